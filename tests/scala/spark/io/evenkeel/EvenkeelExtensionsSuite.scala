// SPDX-License-Identifier: Apache-2.0
package io.evenkeel

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

class EvenkeelExtensionsSuite extends AnyFunSuite {

  private def withSession(
      settings: (String, String)*)(body: SparkSession => Assertion): Assertion = {
    val builder = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.warehouse.dir", "target/spark-warehouse")
      .config("spark.sql.shuffle.partitions", "2")
    settings.foreach { case (key, value) => builder.config(key, value) }
    val session = builder.getOrCreate()
    try body(session)
    finally session.stop()
  }

  private def answers(session: SparkSession): Assertion = {
    assert(session.sql("SELECT evenkeel_version()").head().getString(0) == BuildInfo.version)
    val counts = session.range(100).selectExpr("id % 3 AS k").groupBy("k").count().collect()
    assert(
      counts.map(row => row.getLong(0) -> row.getLong(1)).toMap == Map(
        0L -> 34L,
        1L -> 33L,
        2L -> 33L))
  }

  test("the jar on the class path is enough: the service file loads the extension") {
    withSession()(answers)
  }

  test("naming the extension in the configuration as well changes nothing") {
    withSession("spark.sql.extensions" -> classOf[EvenkeelExtensions].getName)(answers)
  }

  test("a second application to the same session registers nothing again") {
    var registrations = 0
    val extensions = new SparkSessionExtensions {
      override def injectFunction(description: FunctionDescription): Unit = registrations += 1
    }
    new EvenkeelExtensions().apply(extensions)
    val first = registrations
    new EvenkeelExtensions().apply(extensions)
    assert(first > 0 && registrations == first)
  }

  test("evenkeel_version takes no arguments") {
    withSession() { session =>
      val error = intercept[Exception](session.sql("SELECT evenkeel_version(1)").collect())
      assert(error.getMessage.contains("evenkeel_version"))
    }
  }

  test("the Spark that is compiled against is the Spark that BuildInfo names") {
    assert(SPARK_VERSION == BuildInfo.sparkVersion)
    assert(SPARK_VERSION.startsWith(BuildInfo.sparkMinor + "."))
  }
}

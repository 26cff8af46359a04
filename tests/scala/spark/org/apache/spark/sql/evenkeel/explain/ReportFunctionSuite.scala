// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import java.util.concurrent.CountDownLatch

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.evenkeel.SparkSuite

final class ReportFunctionSuite extends SparkSuite {

  test("a driver with events under way is reported as far as it is known") {
    RoutingLog.clear()
    spark.range(100).selectExpr("id % 7 AS k").hint("pkg", "k").groupBy("k").count().collect()
    assert(spark.sql("SELECT * FROM evenkeel_report()").count() == 1)
    val gate = new CountDownLatch(1)
    val slow = new SparkListener {
      override def onJobEnd(jobEnd: SparkListenerJobEnd): Unit = gate.await()
    }
    spark.sparkContext.addSparkListener(slow)
    try {
      spark.range(10).collect()
      assert(spark.sql("SELECT * FROM evenkeel_report()").collect().length == 1)
    } finally {
      gate.countDown()
      spark.sparkContext.removeSparkListener(slow)
    }
  }

  test("arguments are an analysis error that says what to write") {
    Seq("SELECT * FROM evenkeel_report(1)", "SELECT evenkeel_version(1)").foreach { query =>
      val error = intercept[AnalysisException](spark.sql(query).collect())
      assert(error.getCondition == "EVENKEEL_BAD_FUNCTION_ARGUMENTS", query)
      assert(error.getMessage.contains("Write evenkeel_"))
    }
  }
}

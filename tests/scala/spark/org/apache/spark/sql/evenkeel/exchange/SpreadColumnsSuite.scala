// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.nio.file.Files

import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.{DataFrame, Row}

/** Which columns may say where a row goes. */
class SpreadColumnsSuite extends SparkSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 1000, 1, 3)
      .selectExpr(
        "id % 7 AS k",
        "id AS v",
        "CAST(id AS DOUBLE) / 7 AS d",
        "array(id) AS a",
        "CAST(concat('x', id) AS STRING) COLLATE UTF8_LCASE AS c")
      .createOrReplaceTempView("t")
    spark.range(0, 50).selectExpr("id AS k", "id * 2 AS w").createOrReplaceTempView("s")
  }

  /** Names of the spread columns of an exchange on top of `df`, by its key k; before and after it has run. */
  private def spread(df: DataFrame): Seq[String] = {
    val routed = df.hint("route", "keel", 4, "k", "slack=0.01") // insists on a table
    def now: Seq[String] = {
      val text = exchanges(routed).head.stringArgs.mkString(";")
      if (text.contains("spread=map task")) Nil
      else
        "spread=\\[([^\\]]*)\\]".r
          .findFirstMatchIn(text)
          .get
          .group(1)
          .split(", ")
          .toSeq
          .map(_.takeWhile(_ != '#'))
    }
    val before = now
    routed.collect()
    assert(now == before, "after AQE has planned again")
    before
  }

  private def query(text: String): Seq[String] = spread(spark.sql(text))

  test("columns of scans and what is computed of them, but keys, collated and nested ones") {
    assert(query("SELECT * FROM t") == Seq("v", "d"))
    assert(
      query("SELECT k, v + 1 AS x, upper(CAST(v AS STRING)) AS y FROM t WHERE v > 3") ==
        Seq("x", "y"))
    val path = Files.createTempDirectory("spread").toString + "/p"
    spark.table("t").select("k", "v").write.parquet(path)
    assert(spread(spark.read.parquet(path)) == Seq("v"))
    withConf("spark.sql.sources.useV1SourceList" -> "") {
      assert(spread(spark.read.parquet(path)) == Seq("v"))
    }
  }

  test("rand(), uuid(), row numbers and user functions are not stable, whatever they declare") {
    assert(
      query("SELECT k, rand() AS r, uuid() AS u, monotonically_increasing_id() AS m, " +
        "spark_partition_id() AS p FROM t") == Nil)
    spark.udf.register("plus", udf((x: Long) => x + 1))
    assert(query("SELECT k, plus(v) AS p, v FROM t") == Seq("v"))
    assert(query("SELECT k, v, r * 2 AS r FROM (SELECT *, rand(1) AS r FROM t)") == Seq("v"))
  }

  test("of an aggregate only the grouping keys are stable, collated ones are not") {
    assert(query("SELECT k, v, sum(d) AS s, count(*) AS n FROM t GROUP BY k, v") == Seq("v"))
    assert(query("SELECT k, sum(d) AS s FROM t GROUP BY k") == Nil)
    assert(query("SELECT k, CAST(c AS STRING) AS e FROM t GROUP BY k, c") == Nil)
    assert(query("SELECT k, collect_list(v)[0] AS l FROM t GROUP BY k") == Nil)
  }

  test("window results are not stable, the columns beside them are") {
    assert(
      query("SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY d) AS n FROM t") ==
        Seq("v"))
  }

  test("joins, unions, sorts, exchanges, generators and caches pass stable columns on") {
    Seq("10485760", "-1").foreach { broadcast =>
      withConf("spark.sql.autoBroadcastJoinThreshold" -> broadcast) {
        assert(query("SELECT t.k, v, w FROM t JOIN s ON t.k = s.k") == Seq("v", "w"))
        assert(
          query("SELECT t.k, v, n FROM t JOIN " +
            "(SELECT k, avg(w) AS n FROM s GROUP BY k) s ON t.k = s.k") == Seq("v"))
      }
    }
    assert(query("SELECT k, v FROM t UNION ALL SELECT k, w FROM s") == Seq("v"))
    assert(query("SELECT k, v FROM t UNION ALL SELECT k, CAST(rand() * 9 AS LONG) FROM s") == Nil)
    assert(query("SELECT k, e FROM t LATERAL VIEW explode(a) AS e") == Seq("e"))
    assert(query("SELECT /*+ REPARTITION(3, v) */ k, v FROM t SORT BY v") == Seq("v"))
    val cached = spark.sql("SELECT k, v, rand() AS r FROM t").cache()
    try assert(spread(cached) == Seq("v"))
    finally {
      cached.unpersist()
      ()
    }
  }

  test("rows of unknown make are spread by their map task") {
    val schema = spark.range(1).selectExpr("id AS k", "id AS v").schema
    val rdd = spark.sparkContext.parallelize((0L until 9L).map(i => Row(i % 2, i)))
    assert(spread(spark.createDataFrame(rdd, schema)) == Nil)
  }

  test("after a partial step the key and the map task decide alone") {
    val df = spark.sql("SELECT /*+ KEEL(4, k) */ k, v, sum(d) FROM t GROUP BY k, v")
    assert(exchanges(df).head.stringArgs.contains("spread=map task"))
    val raw = spark.sql("SELECT /*+ KEEL(4, k, 'shape=raw') */ k, sum(v) FROM t GROUP BY k")
    assert(exchanges(raw).head.stringArgs.exists(_.toString.startsWith("spread=[v#")))
  }
}

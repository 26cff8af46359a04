// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, UnsafeRow, XxHash64}
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{CollapseCodegenStages, SparkPlan, WholeStageCodegenExec}

import io.evenkeel.core.kip.{HostedHistogram, HostedKey}

class SampleKeysSuite extends SparkSuite {
  private val hosts = 64

  override protected def settings: Map[String, String] =
    Map("spark.sql.adaptive.enabled" -> "false")

  private def sketch(): KeySketch = {
    val made = new KeySketch(hosts, capacity = 1024, listed = 256, every = 8)
    spark.sparkContext.register(made)
    made
  }

  private def attribute(plan: SparkPlan, name: String): Attribute =
    plan.output.find(_.name == name).get

  /** The plan below the code generation of `df`, sampled by `keys`. */
  private def sampled(df: DataFrame, into: KeySketch, keys: String*): SampleKeysExec = {
    val plan = executed(df) match {
      case stage: WholeStageCodegenExec => stage.child
      case other => other
    }
    val by = keys.map(attribute(plan, _))
    SampleKeysExec(by, by, into, named = true, plan)
  }

  for (codegen <- Seq(true, false)) {
    test(
      s"every key of a small input is counted at the host Spark would hash it to, codegen $codegen") {
      withConf("spark.sql.codegen.wholeStage" -> codegen.toString) {
        val into = sketch()
        val df = spark.range(0, 4000, 1, 2).selectExpr("concat('k', id % 5) AS k", "id % 3 AS j")
        val plan = CollapseCodegenStages()(sampled(df, into, "k", "j"))
        assert(plan.isInstanceOf[WholeStageCodegenExec] == codegen)
        assert(plan.execute().count() == 4000)
        val seen = into.histograms
        assert(seen.map(_.total).sum == 4000)
        val expected = df
          .selectExpr("xxhash64(k, j)", "pmod(hash(k, j), 64)")
          .collect()
          .groupMapReduce(r => (r.getLong(0), r.getInt(1)))(_ => 1.0)(_ + _)
        val counted = seen.flatMap(_.entries).groupMapReduce(e => (e.key, e.host))(_.weight)(_ + _)
        assert(counted == expected)
        assert(into.names.values.toSet.size == 15)
        assert(into.names.values.forall(_.text.matches("\\{k[0-4], [0-2]\\}")))
      }
    }

    test(s"keys with timestamps are counted and named, codegen $codegen") {
      withConf("spark.sql.codegen.wholeStage" -> codegen.toString) {
        val df = spark
          .range(0, 4000, 1, 2)
          .selectExpr("timestamp_seconds(id % 3) AS ts", "id % 2 AS k")
          .selectExpr("ts", "k", "struct(ts AS start, ts + INTERVAL 1 HOUR AS `end`) AS window")
        Seq(Seq("ts"), Seq("window"), Seq("k", "ts")).foreach { keys =>
          val into = sketch()
          val plan = CollapseCodegenStages()(sampled(df, into, keys: _*))
          assert(plan.execute().count() == 4000)
          val expected = df.selectExpr(keys: _*).distinct().count()
          assert(into.names.size == expected, keys)
          assert(into.names.values.forall(_.text.contains("00:00:0")), into.names)
        }
      }
    }

    test(s"a key is known by its own columns, codegen $codegen") {
      withConf("spark.sql.codegen.wholeStage" -> codegen.toString) {
        Seq("id % 9", "CAST(id % 9 AS INT)", "concat('a key ', id % 9)").foreach { key =>
          val into = sketch()
          val df = spark.range(0, 4000, 1, 2).selectExpr(s"$key AS k")
          CollapseCodegenStages()(sampled(df, into, "k")).execute().count()
          assert(into.names.size == 9)
          val hash = new XxHash64(Seq(BoundReference(0, df.schema.head.dataType, nullable = false)))
          into.names.foreach { case (known, name) =>
            val row = new UnsafeRow(1)
            row.pointTo(name.row.toArray, name.row.length)
            assert(hash.eval(row) == known, s"$key: ${name.text}")
          }
        }
      }
    }

    test(s"rows pass unchanged, nulls and unused columns included, codegen $codegen") {
      withConf("spark.sql.codegen.wholeStage" -> codegen.toString) {
        val df = spark
          .range(0, 20000, 1, 3)
          .selectExpr("if(id % 7 = 0, null, id % 11) AS k", "id * 2 AS v", "'x' AS w")
          .where("v % 3 <> 1")
        val plan = CollapseCodegenStages()(sampled(df, sketch(), "k"))
        val types = plan.schema
        val rows = plan.executeCollectPublic().map(_.toString).sorted
        assert(types == df.schema)
        assert(rows.toSeq == df.collect().map(_.toString).sorted.toSeq)
      }
    }
  }

  test("a large input is counted in part, without bias") {
    val into = sketch()
    val df = spark.range(0, 400000, 1, 2).selectExpr("if(id % 4 = 0, 0, id) AS k")
    assert(CollapseCodegenStages()(sampled(df, into, "k")).execute().count() == 400000)
    val total = into.histograms.map(_.total).sum
    val heavy = into.histograms.flatMap(_.entries).groupMapReduce(_.key)(_.weight)(_ + _).values.max
    assert(math.abs(total - 400000) < 8000)
    assert(math.abs(heavy / total - 0.25) < 0.01)
    assert(into.names.values.map(_.text).toSeq.contains("0"))
  }

  test("all inputs of a union that is part of the generated code are counted") {
    withConf("spark.sql.codegen.wholeStage.union.enabled" -> "true") {
      val into = sketch()
      val inputs = Seq(1000L, 2000L, 3000L).map { rows =>
        spark.range(0, rows, 1, 2).selectExpr(s"id % 3 + $rows AS k")
      }
      val plan = CollapseCodegenStages()(sampled(inputs.reduce(_ union _), into, "k"))
      assert(plan.isInstanceOf[WholeStageCodegenExec])
      assert(plan.execute().count() == 6000)
      assert(into.histograms.map(_.total).sum == 6000)
      assert(into.histograms.flatMap(_.entries).map(_.key).distinct.size == 9)
    }
  }

  test("a partition that runs twice counts once") {
    val into = sketch()
    val plan = sampled(spark.range(0, 3000, 1, 3).selectExpr("id % 5 AS k"), into, "k")
    val rdd = plan.execute()
    assert(rdd.count() == 3000 && rdd.count() == 3000)
    assert(into.histograms.map(_.total).sum == 3000)
  }

  test("below a partial aggregate the rows are counted, not the keys of each task") {
    val into = sketch()
    val df = spark.range(0, 4000, 1, 4).selectExpr("id % 2 AS k", "id AS v").groupBy("k").sum("v")
    val exchange = executed(df).collectFirst { case e: ShuffleExchangeExec => e }.get
    val partial = exchange.child match {
      case stage: WholeStageCodegenExec => stage.child
      case other => other
    }
    val keys = Seq(attribute(partial, "k"))
    val plan = SampleInput(keys, keys, into, named = false, partial)
    assert(plan.isInstanceOf[BaseAggregateExec])
    assert(CollapseCodegenStages()(plan).execute().count() == 8)
    assert(into.histograms.map(_.total).sum == 4000)
    assert(into.names.isEmpty)
  }

  test("a grouping expression is hashed below the aggregate as its result is above it") {
    val into = sketch()
    val df =
      spark.range(0, 1000, 1, 2).groupBy(org.apache.spark.sql.functions.expr("id % 3")).count()
    val exchange = executed(df).collectFirst { case e: ShuffleExchangeExec => e }.get
    val partial = exchange.child match {
      case stage: WholeStageCodegenExec => stage.child
      case other => other
    }
    val keys = Seq(partial.output.head)
    SampleInput(keys, keys, into, named = false, partial).execute().count()
    val expected =
      spark.sql("SELECT xxhash64(id % 3) FROM range(3)").collect().map(_.getLong(0)).toSet
    assert(into.histograms.flatMap(_.entries).map(_.key).toSet == expected)
    assert(expected.size == 3)
  }

  test("keys that are equal under their collation are one key") {
    val into = sketch()
    val df =
      spark.sql("SELECT if(id % 2 = 0, 'a', 'A') COLLATE UTF8_LCASE AS k FROM range(0, 1000, 1, 2)")
    assert(CollapseCodegenStages()(sampled(df, into, "k")).execute().count() == 1000)
    assert(into.histograms.flatMap(_.entries).map(e => (e.key, e.host)).distinct.size == 1)
  }

  test("the memory of a run takes each batch once and keeps it through an empty one") {
    val sketches = new KeySketches(decay = 0.5, capacity = 100, hosts)
    def batch(number: Long, rows: Int) = {
      val into =
        sketches.begin(spark.sparkContext, number, 0, listed = 64, counters = 512, every = 8)
      val df = spark.range(0, rows.toLong, 1, 2).selectExpr("id % 5 AS k")
      assert(sampled(df, into, "k").execute().count() == rows)
    }
    assert(sketches.before(0).total == 0)
    batch(0, 1000)
    assert(sketches.before(1).total == 1000)
    assert(sketches.before(1).total == 1000)
    batch(1, 0)
    batch(2, 600)
    assert(sketches.before(3).total == 1100)
  }

  test("a side without rows in a batch counts with what it had last, less and less") {
    val sketches = new KeySketches(decay = 0.5, capacity = 100, hosts)

    /** The share of the larger side's key, once the batch is done. */
    def batch(number: Long, sides: Int*): Double = {
      sides.zipWithIndex.foreach { case (rows, side) =>
        val into =
          sketches.begin(spark.sparkContext, number, side, listed = 64, counters = 512, every = 8)
        val df = spark.range(0, rows.toLong, 1, 1).selectExpr(s"id * 0 + $side AS k")
        assert(sampled(df, into, "k").execute().count() == rows)
      }
      sketches.before(number + 1).shares.values.max
    }
    assert(batch(0, 800, 200) == 0.8)
    val alone = batch(1, 800, 0)
    assert(alone > 0.8 && alone < 0.89, "without its last rows: 0.93")
    assert(batch(2, 0, 0) == alone)
    val silent = batch(3, 0, 200)
    assert(silent > 0.6 && silent < alone, "without its last rows: 0.2")
    assert(batch(4, 0, 200) < silent)
  }

  test("inputs that are counted apart are the same input: Spark may shuffle them once") {
    val df = spark.range(10).selectExpr("id % 3 AS k")
    assert(sampled(df, sketch(), "k").sameResult(sampled(df, sketch(), "k")))
    assert(!sampled(df, sketch(), "k").sameResult(sampled(spark.range(9).toDF("k"), sketch(), "k")))
  }

  test("what thousands of map tasks have seen is kept in the memory of some, each task once") {
    val into = sketch()
    def part(task: Int): KeySketch = {
      val other = new KeySketch(hosts, capacity = 1024, listed = 256, every = 8)
      val keys =
        (0 until 10).map(k => HostedKey(if (k == 0) 7L else 1000 + task * 100L + k, k, 1.0))
      val weights = Array.tabulate(hosts)(h => if (h < 10) 1.0 else 0.0)
      val names = keys.map(k => k.key -> KeyName(k.key.toString, Nil)).toMap
      other.add(SampledTask(task, new HostedHistogram(keys.toArray, weights, 10), names))
      other
    }
    (0 until 3000).foreach(task => into.merge(part(task)))
    (0 until 10).foreach(task => into.merge(part(task)))
    assert(into.histograms.size < KeySketch.MostParts)
    assert(into.histograms.map(_.total).sum == 30000)
    val heavy = into.histograms.flatMap(_.entries).filter(_.key == 7).map(_.weight).sum
    assert(heavy == 3000)
    assert(into.names(7).text == "7" && into.names.size < 10 * 256)
  }
}

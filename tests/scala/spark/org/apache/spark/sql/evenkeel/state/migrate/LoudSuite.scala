// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.CollationAwareMurmur3Hash
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  ShufflePartitionIdPassThrough
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.state.plan.KipRoute
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode.Update
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

import io.evenkeel.EvenkeelExtensions

/** A stream whose state has moved stops, with the remedy, where it could not find it again. */
class LoudSuite extends StreamSuite {

  override protected def settings: Map[String, String] = super.settings +
    ("spark.sql.extensions" -> s"${classOf[EvenkeelExtensions].getName},${classOf[PlainPlans].getName}")

  private val aggregate =
    StreamCase("aggregate", Update(), (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")))

  /** Runs four batches by `first`, then one by `second`. */
  private def change(
      backend: Backend,
      first: Map[String, String],
      second: Map[String, String]): Stream = {
    val stream = new Stream(aggregate, moving(backend, Seq(2)))
    val before = stream.start(first)
    input.take(4).foreach { rows =>
      stream.add(rows)
      before.processAllAvailable()
    }
    stream.finish(before)
    stream.add(input(4))
    val after = stream.start(second)
    try after.processAllAvailable()
    finally stream.finish(after)
    stream
  }

  private def condition(body: => Any): String = {
    val failure = intercept[StreamingQueryException](body)
    val chain = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null)
    chain
      .collectFirst {
        case t: SparkThrowable if t.getCondition != null && t.getCondition.startsWith("EVENKEEL") =>
          t.getCondition
      }
      .getOrElse(fail("another failure", failure))
  }

  private val moved = Map.empty[String, String]

  for (backend <- Seq(Backend.hdfs, Backend.rocksDB)) {
    test(s"spark.evenkeel.enabled=false stops a stream that has moved, ${backend.name}") {
      val found = condition(change(backend, moved, Map("spark.evenkeel.enabled" -> "false")))
      assert(found == "EVENKEEL_MIGRATED_STREAM_REFUSED")
    }

    test(s"a plan without our rule stops a stream that has moved, ${backend.name}") {
      val found = condition(change(backend, moved, Map(PlainPlans.Key -> "true")))
      assert(found == "EVENKEEL_STREAM_NOT_PLANNED")
    }

    test(s"a plan without our rule runs while nothing has moved, ${backend.name}") {
      val never = Map(RandomRouting.AdoptAt -> "")
      val stream = change(backend, never, never + (PlainPlans.Key -> "true"))
      assert(stream.ran.outputs(4) == plain(aggregate).outputs(4))
    }

    test(s"spark.evenkeel.enabled=false changes nothing while nothing has moved, ${backend.name}") {
      val never = Map(RandomRouting.AdoptAt -> "")
      val stream = change(backend, never, never + ("spark.evenkeel.enabled" -> "false"))
      assert(stream.ran.outputs(4) == plain(aggregate).outputs(4))
    }

    test(s"the state of a stream that has moved can be read inside foreachBatch, ${backend.name}") {
      val stream = new Stream(aggregate, moving(backend, Seq(1))) {
        override def seen(batch: Long): Unit = if (batch > 1) {
          val state = spark.read.format("statestore").option("batchId", batch - 1).load(checkpoint)
          require(state.count() > 0)
        }
      }
      val query = stream.start()
      input.take(4).foreach { rows =>
        stream.add(rows)
        query.processAllAvailable()
      }
      stream.finish(query)
      assert(stream.ran.outputs(3) == plain(aggregate).outputs(3))
    }
  }

  test("a stream that starts with Spark's provider runs plain, whatever the decider wants") {
    val ours = run(aggregate, moving(Backend.hdfs) + (providerKey -> Backend.hdfs.plain))
    assertSame(ours, plain(aggregate))
    assert(!new java.io.File(ours.checkpoint, "evenkeel").exists())
  }

  test("the offset log names our provider in every batch") {
    val ours = run(aggregate, moving(Backend.hdfs))
    val last = new java.io.File(ours.checkpoint, "offsets/6").toPath
    assert(java.nio.file.Files.readString(last).contains(Backend.hdfs.ours))
  }
}

/** Undoes our plans where a setting asks for it, as if the extension were not there. */
final class PlainPlans extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectColumnar { _ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = PlainPlans.Undo
      }
    }
}

object PlainPlans {
  val Key = "spark.evenkeel.test.plainPlans"

  object Undo extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (SQLConf.get.getConfString(Key, "false") != "true") plan
      else
        plan.transform {
          case m: StateMigrateExec => m.child
          case e: ShuffleExchangeExec =>
            e.copy(outputPartitioning = e.outputPartitioning match {
              case p: ShufflePartitionIdPassThrough =>
                p.expr.child match {
                  case KipRoute(_, CollationAwareMurmur3Hash(keys, _), _) =>
                    HashPartitioning(keys, p.numPartitions)
                  case _ => p
                }
              case other => other
            })
        }
  }
}

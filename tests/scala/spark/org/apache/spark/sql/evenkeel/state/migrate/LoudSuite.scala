// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.apache.commons.io.FileUtils
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.CollationAwareMurmur3Hash
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  ShufflePartitionIdPassThrough
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.evenkeel.EvenkeelStateException
import org.apache.spark.sql.evenkeel.state.plan.KipRoute
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.state.{
  OfflineStateRepartitionRunner,
  StateRepartitionUnsupportedProviderError
}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode.Update
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{Dataset, Row, SparkSessionExtensions, SparkSessionExtensionsProvider}

import io.evenkeel.EvenkeelExtensions
import io.evenkeel.core.Snapshot

/** A stream whose state has moved stops, with the remedy, where it could not find it again. */
class LoudSuite extends StreamSuite {

  override protected def settings: Map[String, String] = super.settings +
    ("spark.sql.extensions" -> s"${classOf[EvenkeelExtensions].getName},${classOf[PlainPlans].getName}")

  private val aggregate =
    StreamCase("aggregate", Update(), (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")))

  /** By windows, or by a copy of them that Spark does not know as windows, where a setting says so. */
  private val windowed = StreamCase(
    "windowed",
    Update(),
    (events, _) => {
      val copy = if (spark.conf.get("spark.evenkeel.test.copied", "false") == "true") {
        "named_struct('start', w.start, 'end', w.end)"
      } else "w"
      events
        .selectExpr("window(ts, '20 seconds') AS w", "k", "v")
        .selectExpr(s"$copy AS w", "k", "v")
        .groupBy("w", "k")
        .agg(expr("sum(v) AS s"))
    })

  /**
   * Runs four batches by `first`, then one by `second`. State moves in the third.
   *
   * @param between is done to the checkpoint while the query is stopped
   */
  private def change(
      backend: Backend,
      first: Map[String, String],
      second: Map[String, String],
      between: Path => Unit = _ => (),
      query: StreamCase = aggregate): Stream = {
    val stream = new Stream(query, moving(backend, Seq(2))) {
      // As somebody does who wants to cancel what he runs.
      override protected def take(batch: Dataset[Row], id: Long): Unit = {
        if (second.contains(ownGroup)) spark.sparkContext.setJobGroup("mine", "of my own")
        super.take(batch, id)
      }
    }
    val before = stream.start(first)
    input.take(4).foreach { rows =>
      stream.add(rows)
      before.processAllAvailable()
    }
    stream.finish(before)
    between(Paths.get(stream.checkpoint))
    stream.add(input(4))
    val state = stateFiles(stream)
    val after = stream.start(second)
    try after.processAllAvailable()
    catch {
      case e: StreamingQueryException =>
        assert(stateFiles(stream) == state, "something was written before the query stopped")
        throw e
    } finally stream.finish(after)
    stream
  }

  private val ownGroup = "spark.evenkeel.test.ownGroup"

  private def stateFiles(stream: Stream): Set[String] = {
    val files = Files.walk(Paths.get(stream.checkpoint, "state"))
    try files.iterator().asScala.filter(Files.isRegularFile(_)).map(_.toString).toSet
    finally files.close()
  }

  private def routing(checkpoint: Path): Path = checkpoint.resolve("evenkeel/routing/0")

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

    test(s"a plan without our rule stops it also under a job group of its own, ${backend.name}") {
      val second = Map(PlainPlans.Key -> "true", ownGroup -> "true")
      assert(condition(change(backend, moved, second)) == "EVENKEEL_STREAM_NOT_PLANNED")
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

  private val damages = Seq[(String, String, Path => Unit)](
    (
      "a damaged routing log",
      "EVENKEEL_ROUTING_LOG_DAMAGED",
      checkpoint => {
        val file = routing(checkpoint).resolve("2")
        val bytes = Files.readAllBytes(file)
        bytes(bytes.length / 2) = (bytes(bytes.length / 2) ^ 1).toByte
        Files.write(file, bytes)
        ()
      }),
    (
      "a routing log of a newer release",
      "EVENKEEL_ROUTING_LOG_NEWER",
      checkpoint => {
        val newer = Snapshot.write("routing-epoch", 99)(_.writeLong(2))
        Files.write(routing(checkpoint).resolve("2"), newer)
        ()
      }),
    (
      "a lost epoch",
      "EVENKEEL_ROUTING_LOG_INCOMPLETE",
      checkpoint => Files.delete(routing(checkpoint).resolve("2"))),
    (
      "the loss of the whole routing log",
      "EVENKEEL_ROUTING_LOG_INCOMPLETE",
      checkpoint => FileUtils.deleteDirectory(checkpoint.resolve("evenkeel").toFile)),
    (
      "another number of partitions in the offset log",
      "EVENKEEL_STATE_PARTITIONS_CHANGED",
      checkpoint =>
        names(checkpoint.resolve("offsets")).filter(_.forall(_.isDigit)).foreach { batch =>
          val file = checkpoint.resolve(s"offsets/$batch")
          val key = "\"spark.sql.shuffle.partitions\":"
          val text = Files.readString(file).replace(s"$key\"$partitions\"", s"$key\"4\"")
          assert(text.contains(s"$key\"4\""))
          Files.writeString(file, text)
          Files.deleteIfExists(checkpoint.resolve(s"offsets/.$batch.crc"))
          ()
        }))

  private def names(folder: Path): Seq[String] = {
    val files = Files.list(folder)
    try files.iterator().asScala.map(_.getFileName.toString).toSeq
    finally files.close()
  }

  for (backend <- Seq(Backend.rocksDB); (what, expected, damage) <- damages)
    test(s"$what stops a stream that has moved, ${backend.name}") {
      withConf(backend.settings.toSeq: _*) {
        assert(condition(change(backend, moved, moved, damage)) == expected)
      }
    }

  test("windows that are windows no more stop a stream whose heavy keys have moved") {
    val copied = Map("spark.evenkeel.test.copied" -> "true")
    val found = condition(change(Backend.rocksDB, moved, copied, query = windowed))
    assert(found == "EVENKEEL_STATE_WINDOWS_CHANGED")
    val same = change(Backend.rocksDB, copied, copied, query = windowed)
    assert(same.ran.outputs(4) == plain(windowed).outputs(4))
  }

  test("Spark refuses to repartition a checkpoint of ours offline: it would go by plain hashing") {
    val stream = change(Backend.rocksDB, moved, moved)
    val runner = new OfflineStateRepartitionRunner(castToImpl(spark), stream.checkpoint, 4)
    intercept[StateRepartitionUnsupportedProviderError](runner.run())
  }

  test("an executor of another release stops the task that would write") {
    val data = spark.sparkContext.parallelize(Seq[InternalRow](InternalRow.empty), 1)
    val mixed =
      new StateMigrateRDD(data.sparkContext, data, Nil, Nil, None, None, Map.empty, "0.0.0-other")
    val failure = intercept[EvenkeelStateException](mixed.count())
    assert(failure.getCondition == "EVENKEEL_MIXED_VERSIONS")
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

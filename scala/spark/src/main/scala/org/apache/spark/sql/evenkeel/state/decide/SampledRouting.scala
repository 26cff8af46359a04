// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.evenkeel.config.StreamingConf
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.hint.KipHint
import org.apache.spark.sql.evenkeel.state.RocksDBMigratingStateStoreProvider
import org.apache.spark.sql.evenkeel.state.ledger.{
  HeavyKey,
  MovedState,
  RoutingEpoch,
  RoutingLedger
}
import org.apache.spark.sql.evenkeel.state.migrate.{MigrationMetrics, MigrationTally}
import org.apache.spark.sql.evenkeel.state.plan.{DecideRouting, RoutingQuestion, RunLife}
import org.apache.spark.sql.evenkeel.state.sample.{
  KeptSample,
  KeptSamples,
  KeyName,
  KeySketches,
  SampleInput,
  SampleWatch,
  StageFigures
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.ProcessingTimeTrigger
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQueryProgress

import io.evenkeel.core.kip.HostedHistogram
import io.evenkeel.core.prompt.Elasticity
import io.evenkeel.core.table.RoutingTable

/**
 * Decides by what the stream's own tasks have counted: the link between the plan and
 * [[RepartitionDecider]], which is pure.
 */
final class SampledRouting extends DecideRouting {
  import SampledRouting._

  override def observed(
      question: RoutingQuestion,
      exchange: Int,
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      input: SparkPlan): SparkPlan = {
    val conf = question.session.sessionState.conf
    val settings = RepartitionSettings.of(conf)
    if (!counts(settings.mode, question)) input
    else {
      val heavy = settings.heavyKeys(question.partitions)
      val sketch = memoryOf(question).sketches.begin(
        question.session.sparkContext,
        question.batch,
        exchange,
        listed = settings.listedKeys(question.partitions),
        counters = counters(conf, heavy),
        every = conf.getConf(StreamingConf.SampleEvery))
      SampleInput(routingKeys, keys, sketch, conf.getConf(StreamingConf.KeyNames), input)
    }
  }

  override def decide(question: RoutingQuestion): Either[Reason, RoutingEpoch] = {
    val conf = question.session.sessionState.conf
    val memory = memoryOf(question)
    val table = current(question, conf)
    val histogram = memory.sketches.before(question.batch)
    val execution = executionOf(question)
    memory.scale(execution, question, table)
    look(question, memory)
    memory.settle(question.lastEpoch)
    val facts = factsOf(question, memory, execution)
    val settings = RepartitionSettings.of(conf)
    val names =
      if (conf.getConf(StreamingConf.KeyNames)) namesOf(memory.homes) ++ memory.sketches.names
      else Map.empty[Long, KeyName]
    val answer =
      if (settings.mode == "hint" && !isHinted(question)) Left(Hold.NotHinted)
      else
        new RepartitionDecider(settings)
          .decide(question.batch, question.operator, table, histogram, names, facts)
    memory.counted = Option.when(histogram.total > 0)(histogram -> table)
    memory.proposed = answer.toOption
    answer.map(_.epoch)
  }

  override def figures(question: RoutingQuestion, adopts: Boolean): Map[String, Long] = {
    val memory = memoryOf(question)
    memory.counted.fold(Map.empty[String, Long]) { case (histogram, before) =>
      val after = memory.proposed.filter(_ => adopts).fold(before)(_.epoch.table)
      Map(
        MigrationMetrics.ImbalanceBefore -> permille(histogram.loads(before)),
        MigrationMetrics.ImbalanceAfter -> permille(histogram.loads(after)))
    }
  }

  /** Whether tasks count keys: not where nothing could come of it. */
  private def counts(mode: String, question: RoutingQuestion): Boolean = mode match {
    case "auto" => true
    case "hint" => isHinted(question)
    case _ => false
  }

  private def isHinted(question: RoutingQuestion): Boolean =
    executionOf(question).exists(_.analyzedPlan.exists(_.isInstanceOf[KipHint]))

  private def factsOf(
      question: RoutingQuestion,
      memory: Memory,
      execution: Option[StreamExecution]): StreamFacts = {
    // A stream that waits for long reports that so often that its last batch is no more in the list.
    val figures = lastRun(execution)
      .flatMap(StageFigures.of(_, question.places))
      .orElse(memory.seen)
      .orElse(memory.kept.map(_.figures))
      .getOrElse(StageFigures.none)
    StreamFacts(
      batchMs = figures.batchMs,
      stateRows = figures.stateRows,
      countsRows = countsRows(question.session.sessionState.conf),
      shape = question.shape,
      measured = measured(question, memory),
      parallelTasks = question.session.sparkContext.defaultParallelism,
      batchesSinceChange = question.lastEpoch.fold(Int.MaxValue)(e => (question.batch - e).toInt),
      unfinished = memory.unfinished,
      lastShares = memory.homes.map(k => k.hash -> k.share).toMap,
      usable = memory.usable)
  }

  private def countsRows(conf: SQLConf): Boolean =
    conf.stateStoreProviderClass != classOf[RocksDBMigratingStateStoreProvider].getName ||
      conf.getConfString(TrackRows, "true").toBoolean

  /** What the log tells of earlier runs. */
  private def look(question: RoutingQuestion, memory: Memory): Unit = if (!memory.hasLooked) {
    memory.hasLooked = true
    val conf = question.session.sessionState.newHadoopConf()
    val ledger = new RoutingLedger(question.checkpoint, question.operator, conf)
    ledger.inForce(question.batch).foreach { epoch =>
      memory.homes = epoch.heavyKeys
    }
    ledger.epochs.filter(_ < question.batch).flatMap(ledger.moved).foreach(memory.learn)
  }

  /** What migrations have cost in this run and, by the log, in earlier ones. */
  private def measured(question: RoutingQuestion, memory: Memory): Option[MovedState] = {
    question.lastMigration.filterNot(memory.lastMigration.contains).foreach { tally =>
      memory.lastMigration = Some(tally)
      memory.learn(tally.movedState)
    }
    memory.measured
  }
}

object SampledRouting {

  /** @param read what the run before knew; read when it is first asked for, outside any lock */
  private final class Memory(
      val hosts: Int,
      val life: RunLife,
      read: => Option[KeptSample],
      open: Option[KeptSample] => KeySketches,
      watch: KeySketches => SampleWatch) {
    lazy val kept: Option[KeptSample] = read
    lazy val sketches: KeySketches = {
      val opened = open(kept)
      watching = Some(watch(opened))
      opened
    }
    private var watching: Option[SampleWatch] = None
    private var unfinishedSteps = false
    var hasLooked = false
    var measured: Option[MovedState] = None
    var lastMigration: Option[MigrationTally] = None
    // Quiet keys included: their state is found by name when they move, and weighs what it weighed.
    var homes: Seq[HeavyKey] = Nil
    // Of the last batch that was decided about, with the table before it.
    var counted: Option[(HostedHistogram, RoutingTable)] = None
    var proposed: Option[Adoption] = None
    private var partitionScale: Option[PartitionScale] = None

    def unfinished: Boolean = unfinishedSteps

    /** What was proposed last counts if it has come to it, which `lastEpoch` tells. */
    def settle(lastEpoch: Option[Long]): Unit = {
      proposed.filter(adoption => lastEpoch.contains(adoption.epoch.batch)).foreach { adoption =>
        unfinishedSteps = !adoption.isLast
        homes = adoption.epoch.heavyKeys
      }
      proposed = None
    }

    def learn(moved: MovedState): Unit = measured = Some(measured.fold(moved)(moved.after))

    /** What the last batch told. */
    def seen: Option[StageFigures] = watching.flatMap(_.latest)

    /** Whoever forgets it must not be told of the end of the run. */
    def forget(): Unit = watching.foreach(_.close())

    def usable: Int = partitionScale.fold(Int.MaxValue)(_.usable)

    /** Follows the load of the last batch, if elasticity is on and there is an interval to measure by. */
    def scale(
        execution: Option[StreamExecution],
        question: RoutingQuestion,
        table: RoutingTable): Unit = {
      val conf = question.session.sessionState.conf
      val interval = execution.map(_.trigger).collect {
        case t: ProcessingTimeTrigger if t.intervalMs > 0 => t.intervalMs
      }
      val progress = lastRun(execution)
      if (!conf.getConf(StreamingConf.Elasticity)) partitionScale = None
      else {
        // A run begins with what the last one used.
        val scale = partitionScale.getOrElse(startScale(conf, table))
        val seen =
          for (ms <- interval; last <- progress if last.batchId == question.batch - 1) yield {
            val keys = last.stateOperators.map(_.numRowsUpdated).sum
            Elasticity.Observation(last.batchDuration, ms, last.numInputRows, keys)
          }
        partitionScale = Some(seen.fold(scale)(scale.next))
      }
    }

    private def startScale(conf: SQLConf, table: RoutingTable): PartitionScale =
      PartitionScale(
        threshold = conf.getConf(StreamingConf.ElasticityThreshold),
        step = conf.getConf(StreamingConf.ElasticityStep),
        batches = conf.getConf(StreamingConf.ElasticityBatches),
        minPartitions = conf.getConf(StreamingConf.ElasticityMinPartitions),
        partitions = table.targets,
        inUse = RepartitionDecider.inUse(table).max + 1)
  }

  private def namesOf(homes: Seq[HeavyKey]): Map[Long, KeyName] =
    homes.collect {
      case key if key.name.nonEmpty || key.row.nonEmpty => key.hash -> KeyName(key.name, key.row)
    }.toMap

  private val Kept = 256
  private val TrackRows = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"

  // By run: a query that starts again has other sessions, other tasks and maybe other settings.
  private val memories = mutable.LinkedHashMap.empty[(UUID, Long), Memory]

  private def memoryOf(question: RoutingQuestion): Memory = synchronized {
    val conf = question.session.sessionState.conf
    PartitionScale.check(conf)
    val hosts = current(question, conf).hosts
    val key = (question.runId, question.operator)
    val before = memories.remove(key)
    // Of a run that is over nothing is wanted but the sample, which its watch writes.
    if (before.isEmpty) memories.filterInPlace((_, memory) => !memory.life.isOver)
    val memory = before.filter(_.hosts == hosts).getOrElse {
      val heavy = RepartitionSettings.of(conf).heavyKeys(question.partitions)
      val samples = new KeptSamples(
        question.checkpoint,
        question.operator,
        question.session.sessionState.newHadoopConf())
      new Memory(
        hosts,
        RunLife(question.session, question.queryId, question.runId),
        if (before.isEmpty) samples.read(hosts, question.batch - 1) else None,
        kept => new KeySketches(conf.getConf(StreamingConf.Decay), 8 * heavy, hosts, kept),
        sketches =>
          SampleWatch(question.session.sparkContext, question.runId, question.places) { figures =>
            sketches.keep(figures).foreach(samples.write)
          })
    }
    before.filterNot(_ eq memory).foreach(_.forget())
    // Put in again as the newest: the one that was not asked for longest goes first.
    memories.put(key, memory)
    if (memories.size > Kept) memories.remove(memories.head._1).foreach(_.forget())
    memory
  }

  /** The table in force; plain hashing with as many hosts as its successor will have. */
  private def current(question: RoutingQuestion, conf: SQLConf): RoutingTable = {
    val table = question.current.value
    if (!table.isPlain) table
    else RoutingTable.plain(table.targets, conf.getConf(StreamingConf.HostsPerPartition))
  }

  private def counters(conf: SQLConf, heavy: Int): Int =
    conf.getConf(StreamingConf.SampleCounters) match {
      case 0 => math.max(512, 12 * heavy)
      case n => math.max(2, n)
    }

  private def executionOf(question: RoutingQuestion): Option[StreamExecution] =
    Option(
      question.session.sharedState.activeStreamingQueries.get(UUID.fromString(question.queryId)))

  /** The last batch that had something to do, if it is not long ago. */
  private def lastRun(execution: Option[StreamExecution]): Option[StreamingQueryProgress] =
    execution.flatMap(_.recentProgress.findLast(StageFigures.hasRun))

  /** Imbalance (max - avg) / avg in permille. */
  private def permille(loads: Array[Double]): Long =
    math.round((loads.max * loads.length - 1) * 1000)
}

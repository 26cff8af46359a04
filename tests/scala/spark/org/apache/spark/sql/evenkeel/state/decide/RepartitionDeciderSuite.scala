// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.ledger.{MovedState, RoutingEpoch}
import org.apache.spark.sql.evenkeel.state.migrate.StateShape
import org.apache.spark.sql.evenkeel.state.sample.KeyName
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.kip.{HostedHistogram, HostedKey, HostedMemory, HostedSample}
import io.evenkeel.core.table.RoutingTable
import io.evenkeel.core.{Hashing, SplitMix64}

/** Streams of keys, counted and decided about as in Spark, but without it. */
class RepartitionDeciderSuite extends AnyFunSuite {
  private val facts = StreamFacts(batchMs = 4000, stateRows = 100000, parallelTasks = 2)

  test(
    "uniform keys never adopt a table, whatever the number of partitions and the size of batches") {
    for (seed <- 1L to 3L; n <- Seq(4, 16, 200); rows <- Seq(6000, 40000)) {
      val run = new Run(n, RepartitionSettings(), seed, keys = 200000, exponent = 0)
      withClue(s"seed $seed, $n partitions, $rows rows: ") {
        assert((1 to 20).forall(_ => run.batch(rows).isLeft))
      }
    }
  }

  test("skewed keys adopt once and come near the best that whole keys allow") {
    for (seed <- 1L to 5L; n <- Seq(8, 16)) {
      val run = new Run(n, RepartitionSettings(), seed, keys = 100000, exponent = 1.0)
      val plain = run.excess(100000)
      val epochs = (1 to 12).flatMap(_ => run.batch(100000).toOption)
      val adopted = epochs.size
      withClue(s"seed $seed, $n partitions: plain $plain, then ${run.excess(
          100000)}, ${epochs.map(e => e.batch -> e.reason)}: ") {
        assert(adopted <= 2)
        assert(run.excess(100000) <= 1.2)
        assert(adopted == 0 || run.excess(100000) < plain)
      }
    }
  }

  test("when the heavy keys change, tables follow") {
    (1L to 3L).foreach { seed =>
      val run = new Run(16, RepartitionSettings(), seed, keys = 100000, exponent = 1.0)
      val excesses = (1 to 6).map { phase =>
        run.drift = phase * 1000003L
        (1 to 6).foreach(_ => run.batch(100000))
        run.excess(100000)
      }
      withClue(s"seed $seed, after each change ${excesses.mkString(", ")}: ") {
        assert(excesses.forall(_ <= 1.25))
        assert(run.adoptions >= 3)
      }
    }
  }

  test("while the heavy keys change every ten batches, most batches are near the best") {
    (1L to 3L).foreach { seed =>
      val run = new Run(16, RepartitionSettings(), seed, keys = 100000, exponent = 1.0)
      val excesses = (0 until 60).map { b =>
        run.drift = b / 10 * 1000003L
        val excess = run.excess(40000)
        run.batch(40000)
        run.adoptions -> excess
      }
      val later = excesses.collect { case (n, excess) if n >= 2 => excess }.sorted
      val (median, mean) = (later(later.size / 2), later.sum / later.size)
      withClue(s"seed $seed, ${run.adoptions} adoptions, median $median, mean $mean: ") {
        assert(run.adoptions >= 5)
        assert(median <= 1.1)
        assert(mean <= 1.18)
      }
    }
  }

  test("state whose rows are not counted moves only if it is to be released") {
    val run = new Run(16, RepartitionSettings(), 1, keys = 100000, exponent = 1.0)
    (1 to 6).foreach(_ => run.batch(100000))
    val adopted = run.adoptions
    assert(adopted > 0)
    run.drift = 1000003L
    val uncounted = facts.copy(countsRows = false)
    val answers = (1 to 6).map(_ => run.batch(100000, uncounted))
    assert(run.adoptions == adopted && answers.contains(Left(Hold.UncountedRows)))
    run.settings = RepartitionSettings(mode = "release")
    assert(run.batch(100000, uncounted).isRight)
  }

  test("state that costs more to move than it gains stays") {
    val run = new Run(16, RepartitionSettings(), 1, keys = 100000, exponent = 1.0)
    val heavyState = facts.copy(batchMs = 100, stateRows = 1000000000L)
    assert((1 to 10).forall(_ => run.batch(100000, heavyState).isLeft))
    assert(run.lastHold.code == "STREAM_NOT_WORTH_IT")
  }

  test("a measured price of moving takes the place of the assumed one") {
    val run = new Run(16, RepartitionSettings(), 1, keys = 100000, exponent = 1.0)
    def took(ms: Long) = facts.copy(measured = Some(MovedState(1000000, 100000, ms)))
    assert((1 to 5).forall(_ => run.batch(100000, took(1000000000L)).isLeft))
    assert(run.lastHold.code == "STREAM_NOT_WORTH_IT")
    assert((1 to 5).exists(_ => run.batch(100000, took(1000)).isRight))
  }

  private val lookedUp = StateShape(Some(1), findsKeys = true, looksUp = true)

  test("keys that are looked up move before anything is measured, however large the state") {
    def answers(shape: StateShape) = {
      val run = new Pair(shape)
      (1 to 3).map(_ => run.decide(facts.copy(batchMs = 500, stateRows = 1000000000L)))
    }
    assert(answers(lookedUp).forall(_.isRight))
    assert(answers(lookedUp.copy(looksUp = false)).forall(_.isLeft), "a partition must be read")
    assert(answers(StateShape.unknown).forall(_.isLeft))
  }

  test("a look-up that took no time does not make a large move look free") {
    val run = new Run(16, RepartitionSettings(), 1, keys = 100000, exponent = 1.0)
    val cheap = facts.copy(
      batchMs = 100,
      stateRows = 1000000000L,
      shape = lookedUp,
      measured = Some(MovedState(2, 2, 0)))
    assert((1 to 5).forall(_ => run.batch(100000, cheap).isLeft))
    assert(run.lastHold.code == "STREAM_NOT_WORTH_IT")
  }

  test("nothing moves before enough rows are counted") {
    val run = new Run(16, RepartitionSettings(minSampledRows = 1000000), 1, 100000, 1.0)
    assert(run.batch(100000).isLeft)
    assert(run.lastHold.code == "STREAM_TOO_FEW_ROWS")
  }

  test("two changes keep their distance") {
    val settings = RepartitionSettings(minIntervalBatches = 5, maxMovedShare = 1)
    val run = new Run(16, settings, 2, keys = 100000, exponent = 1.2)
    val at = (1 to 40).filter { b =>
      run.drift = b * 1000003L
      run.batch(50000).isRight
    }
    assert(at.size >= 3)
    assert(at.zip(at.tail).forall { case (a, b) => b - a >= 5 })
  }

  test("a large change is spread over batches that each move at most the share allowed") {
    (1L to 5L).foreach { seed =>
      val settings = RepartitionSettings(maxMovedShare = 0.02, minIntervalBatches = 3)
      val run = new Run(8, settings, seed, keys = 100000, exponent = 0.8)
      run.unbalance()
      val epochs = (1 to 40).flatMap(_ => run.batch(100000).toOption)
      withClue(s"seed $seed, moved ${epochs.map(_.movedShare).mkString(", ")}: ") {
        assert(epochs.size > 3)
        // A single key may exceed it alone.
        assert(epochs.forall(e => e.movedShare <= 0.02 || e.movedShare <= run.topShare + 0.001))
        assert(run.excess(100000) <= 1.2)
      }
    }
  }

  test("release comes back to the plain table in steps and then says so") {
    (1L to 5L).foreach { seed =>
      val run = new Run(16, RepartitionSettings(), seed, keys = 100000, exponent = 1.1)
      run.unbalance()
      run.settings = RepartitionSettings(mode = "release", maxMovedShare = 0.05)
      val steps = Iterator.continually(run.batch(50000)).takeWhile(_.isRight).take(500).toSeq
      withClue(s"seed $seed, ${steps.size} steps: ") {
        assert(steps.size > 1 && steps.size < 500)
        assert(run.table.isPlain)
        assert(run.lastHold == Hold.Released)
      }
    }
  }

  test("release works without a single row") {
    val turned = RoutingTable.plain(4, 4).withHosts(Array.tabulate(16)(h => (h + 1) % 4))
    val decider = new RepartitionDecider(RepartitionSettings(mode = "release", maxMovedShare = 0.3))
    val tables = Iterator.iterate(Option(turned)) { table =>
      decider
        .decide(9, 0, table.get, HostedHistogram.empty(16), Map.empty, facts)
        .toOption
        .map(_.epoch.table)
    }
    val steps = tables.takeWhile(_.isDefined).flatten.toSeq
    assert(steps.last.isPlain)
    assert(steps.size == 5)
  }

  test("release without a single row moves the keys with homes in steps, over any restart") {
    val hosts = Array.tabulate(64)(_ % 4)
    val homes = RoutingTable(hosts, 4, (1L to 8L).map(k => k -> Array((k % 4).toInt)))
    val settings = RepartitionSettings(mode = "release", maxMovedShare = 0.35)
    val decider = new RepartitionDecider(settings)
    val shares = homes.heavyKeys.map(k => k -> 0.1).toMap
    // Each step knows of the keys what the epoch before has written down, as a run that begins does.
    val steps = Iterator.unfold((homes, shares)) { case (table, known) =>
      decider
        .decide(9, 0, table, HostedHistogram.empty(64), Map.empty, facts.copy(lastShares = known))
        .toOption
        .map { a =>
          a.epoch -> (a.epoch.table -> a.epoch.heavyKeys.map(k => k.hash -> k.share).toMap)
        }
    }
    assert(steps.map(_.table.heavyKeys.length).toSeq == Seq(5, 2, 0))
  }

  test("off keeps the table that is there") {
    val run = new Run(16, RepartitionSettings(mode = "off"), 1, keys = 1000, exponent = 1.5)
    assert((1 to 5).forall(_ => run.batch(50000).isLeft))
    assert(run.lastHold == Hold.Off)
  }

  test("a key that is no longer heavy keeps its home") {
    val run = new Run(16, RepartitionSettings(), 3, keys = 100000, exponent = 1.0)
    (1 to 4).foreach(_ => run.batch(100000))
    val first = run.table
    assert(first.heavyKeys.nonEmpty)
    run.drift = 77777777L
    (1 to 8).foreach(_ => run.batch(100000))
    assert(run.adoptions >= 2)
    val homes = first.heavyKeys.filter(k => run.table.targetsOf(k).nonEmpty)
    assert(homes.length > first.heavyKeys.length / 2)
  }

  test("the epoch names the heavy keys that a task wrote down") {
    val run = new Run(16, RepartitionSettings(), 1, keys = 100000, exponent = 1.0)
    val epoch = Iterator.continually(run.batch(100000)).flatMap(_.toOption).next()
    assert(epoch.heavyKeys.map(_.share) == epoch.heavyKeys.map(_.share).sorted.reverse)
    assert(epoch.heavyKeys.head.name == "key 1")
    assert(epoch.heavyKeys.map(_.hash).toSet == epoch.table.heavyKeys.toSet)
  }

  test("fewer usable partitions empty the others, and more are taken up again") {
    (1L to 3L).foreach { seed =>
      val run = new Run(16, RepartitionSettings(maxMovedShare = 1), seed, 100000, 0.8)
      (1 to 3).foreach(_ => run.batch(60000, facts.copy(usable = 6)))
      val fewer = run.loads(60000)
      (1 to 6).foreach(_ => run.batch(60000, facts.copy(usable = 9)))
      val more = run.loads(60000)
      withClue(s"seed $seed: ") {
        assert(fewer.drop(6).forall(_ == 0) && fewer.max < 1.3 / 6)
        assert(more.drop(9).forall(_ == 0) && more.take(9).forall(_ > 0) && more.max < 1.3 / 9)
      }
    }
  }

  test("an idle stream gives partitions back one by one, a busy one takes them again") {
    import io.evenkeel.core.prompt.Elasticity.Observation
    val start = PartitionScale(0.9, 0.4, batches = 2, minPartitions = 3, partitions = 8, inUse = 8)
    def run(from: PartitionScale, ms: Long, batches: Int) =
      Iterator.iterate(from)(_.next(Observation(ms, 1000, 100, 10))).drop(batches).next()
    assert(run(start, 700, 20).usable == 8)
    assert(run(start, 300, 2).usable == 7)
    val least = run(start, 300, 60)
    assert(least.usable == 3)
    assert(run(least, 950, 60).usable == 8)
  }

  /** Two keys with .2 of the rows each at partition 0; with one of them at partition 1 all have a quarter. */
  private final class Pair(shape: StateShape) {
    private val plain = RoutingTable.plain(4, 16)
    private val entries = Array(HostedKey(1L, 0, 20000), HostedKey(2L, 4, 20000))
    private val totals = Array.tabulate(64)(h => (if (h % 4 < 2) 5000.0 else 25000.0) / 16)
    entries.foreach(e => totals(e.host) += e.weight)
    private val histogram = new HostedHistogram(entries, totals, 100000)
    private val names = Seq(1L, 2L).map(k => k -> KeyName(k.toString, Seq[Byte](1))).toMap

    def decide(known: StreamFacts): Either[Reason, RoutingTable] =
      new RepartitionDecider(RepartitionSettings(maxMovedShare = 1))
        .decide(9, 0, plain, histogram, names, known.copy(shape = shape))
        .map(_.epoch.table)
  }

  /** A stream of Zipf keys over `n` partitions; a key's name changes with `drift`. */
  private final class Run(
      n: Int,
      var settings: RepartitionSettings,
      seed: Long,
      keys: Int,
      exponent: Double) {
    private val random = new SplitMix64(Hashing.mix(seed))
    private val cumulative =
      (1 to keys).map(r => math.pow(r, -exponent)).scanLeft(0.0)(_ + _).toArray
    private var memory = HostedMemory(0.5, 16 * n, n * 16)
    private var since = Int.MaxValue
    private var unfinished = false
    private var number = 0L
    var table: RoutingTable = RoutingTable.plain(n, 16)
    var drift = 0L
    var adoptions = 0
    var lastHold: Reason = _

    def topShare: Double = 1 / cumulative.last

    /** State that lies on half of the partitions only. */
    def unbalance(): Unit =
      table = table.withHosts(Array.tabulate(table.hosts)(h => h % (n / 2)))

    /** Counts a batch, then decides as the next one is planned. */
    def batch(rows: Int, known: StreamFacts = facts): Either[Reason, RoutingEpoch] = {
      val tasks = Seq.tabulate(2) { task =>
        new HostedSample(table.hosts, math.max(512, 24 * n), every = 64, 2 * number + task)
      }
      var i = 0
      while (i < rows) {
        val (key, host) = draw()
        val sample = tasks(i & 1)
        if (sample.due()) sample.count(key, host)
        i += 1
      }
      memory = memory.add(HostedHistogram.merge(tasks.map(_.histogram(8 * n)), 16 * n))
      number += 1
      if (since < Int.MaxValue) since += 1
      val answer = new RepartitionDecider(settings).decide(
        number,
        0,
        table,
        memory.histogram,
        Map(name(1) -> KeyName("key 1", Nil)),
        known.copy(batchesSinceChange = since, unfinished = unfinished))
      answer.fold(lastHold = _, adopt)
      answer.map(_.epoch)
    }

    private def adopt(adoption: Adoption): Unit = {
      table = adoption.epoch.table
      unfinished = !adoption.isLast
      since = 0
      adoptions += 1
    }

    /** max / max(avg, p1) of fresh rows. */
    def excess(rows: Int): Double = loads(rows).max / math.max(1.0 / n, topShare)

    def loads(rows: Int): Array[Double] = {
      val counts = new Array[Double](n)
      (0 until rows).foreach { _ =>
        val (key, host) = draw()
        counts(table.lookup(key, Math.floorMod(host, table.hosts), 0)) += 1
      }
      counts.map(_ / rows)
    }

    private def name(rank: Int): Long = Hashing.ofId(rank + drift)

    private def draw(): (Long, Int) = {
      val at = java.util.Arrays.binarySearch(cumulative, random.nextDouble() * cumulative.last)
      val rank = math.min(keys, math.max(1, if (at >= 0) at + 1 else -at - 1))
      val key = name(rank)
      (key, Hashing.mix(key ^ 0x5bd1e995L).toInt)
    }
  }
}

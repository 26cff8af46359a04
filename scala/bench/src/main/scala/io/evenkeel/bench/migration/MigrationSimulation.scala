// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.core.choices.HashKind
import io.evenkeel.core.kip.{KeyHistograms, KipKind, RepartitionPolicy}
import io.evenkeel.core.spec.{RouterSpec, SpecException}
import io.evenkeel.core.table.RoutingTable
import io.evenkeel.core.{Hashing, Measures}

/**
 * How a stream is repartitioned and measured (004 §5).
 *
 * @param targets number of partitions
 * @param lambda overrides the λ of every router that has one
 * @param stateWindow batches whose rows make up a key's state
 * @param forceUpdate take every new table; else only those that pay by `policy`
 * @param rounds repetitions, each with other key names, over which figures are averaged
 */
final case class MigrationOptions(
    targets: Int,
    lambda: Option[Double] = None,
    stateWindow: Int = 5,
    forceUpdate: Boolean = true,
    rounds: Int = 1,
    policy: RepartitionPolicy = RepartitionPolicy.default) {
  require(targets >= 1, s"targets must be at least 1, not $targets")
  require(stateWindow >= 1, s"the state window must hold at least 1 batch, not $stateWindow")
  require(rounds >= 1, s"rounds must be at least 1, not $rounds")
}

/**
 * What a router did to a stream of batches; averages over rounds.
 *
 * @param imbalance mean (max - avg) / avg of the batches after the first, which plain hashing routes
 * @param maxOverAverage mean max / avg of the same batches
 * @param maxOverBound mean max / max(avg, heaviest key) of the same batches
 * @param migrationFirst share of the state moved when plain hashing is replaced
 * @param migrationSteady mean share of the state moved by a later update, refused ones counting 0
 * @param updates tables adopted per round
 * @param updateMillis mean time to compute a table
 * @param imbalanceOfBatch (max - avg) / avg of every batch, the first included
 * @param migrationOfUpdate share of the state moved after every batch but the last
 */
final case class MigrationResult(
    router: RouterSpec,
    targets: Int,
    batches: Int,
    imbalance: Double,
    maxOverAverage: Double,
    maxOverBound: Double,
    migrationFirst: Double,
    migrationSteady: Double,
    updates: Double,
    updateMillis: Double,
    imbalanceOfBatch: Vector[Double],
    migrationOfUpdate: Vector[Double])

/**
 * Repartitioning of a keyed stream at batch boundaries: route a batch by the table in force, count it,
 * compute the next table from the counts, and move the state of the keys that change their target.
 *
 * State is linear in a key's rows over a sliding window of batches; relative migration is state moved over
 * all state. The histogram is exact: what a bounded counter costs is measured elsewhere.
 *
 * Paper: 004 §5, Fig. 2 and 3.
 */
object MigrationSimulation {

  /** Kinds that repartition between batches; any other is refused. */
  def supports(spec: RouterSpec): Boolean = spec.kind match {
    case HashKind | KipKind => true
    case _: BaselineKind => true
    case _ => false
  }

  /**
   * Runs one router over a stream.
   *
   * @param batches key ids, dense from 0
   * @param progress called after each batch of each round
   */
  def run(
      batches: Array[Array[Int]],
      spec: RouterSpec,
      options: MigrationOptions,
      progress: () => Unit = () => ()): MigrationResult = {
    val counted = batches.map(BatchCounts.of)
    val rounds = (0 until options.rounds).map { r =>
      new MigrationRound(counted, repartitioner(spec, options), hostsPerTarget(spec), options, r)
        .run(progress)
    }
    average(spec, options, batches.length, rounds)
  }

  private def hostsPerTarget(spec: RouterSpec): Int =
    if (spec.kind eq KipKind) spec(KipKind.hosts) else 1

  private def repartitioner(chosen: RouterSpec, options: MigrationOptions): Repartitioner = {
    val n = options.targets
    chosen.kind match {
      case HashKind => Repartitioner.of((_, table) => table, _ => 0)
      case KipKind =>
        val spec = options.lambda.fold(chosen)(l => chosen.updated(KipKind.lambda := l))
        Repartitioner.of(KipKind.solver(spec, n), KipKind.heavyKeys(spec, _))
      case kind: BaselineKind =>
        kind.repartitioner(options.lambda.fold(chosen)(l => chosen.updated(kind.lambda := l)))
      case other =>
        throw new SpecException(
          "EVENKEEL_NOT_A_REPARTITIONER",
          s"Router '$other' does not repartition between batches. Use one of hash, kip, " +
            s"${BaselineKinds.all.mkString(", ")}.")
    }
  }

  private def average(
      spec: RouterSpec,
      options: MigrationOptions,
      batches: Int,
      rounds: Seq[RoundFigures]): MigrationResult = {
    def mean(values: Seq[Double]): Double = if (values.isEmpty) 0 else values.sum / values.size
    def perRound(figure: RoundFigures => Seq[Double]): Vector[Double] =
      rounds.map(figure).transpose.map(mean).toVector
    val imbalances = perRound(_.imbalances)
    val migrations = perRound(_.migrations)
    // A stream of one batch has only the batch that plain hashing routed.
    def settled(values: Vector[Double]): Vector[Double] =
      if (values.size > 1) values.tail else values
    MigrationResult(
      spec,
      options.targets,
      batches,
      mean(settled(imbalances)),
      mean(settled(imbalances)) + 1,
      mean(settled(perRound(_.overBound))),
      migrations.headOption.getOrElse(0.0),
      mean(migrations.drop(1)),
      mean(rounds.map(_.updates.toDouble)),
      mean(rounds.map(_.updateNanos / 1e6)),
      imbalances,
      migrations)
  }
}

/** Figures of one round, one entry per batch or update. */
private final case class RoundFigures(
    imbalances: Seq[Double],
    overBound: Seq[Double],
    migrations: Seq[Double],
    updates: Int,
    updateNanos: Double)

/** One pass over the stream with one set of key names. */
private final class MigrationRound(
    batches: Array[BatchCounts],
    repartitioner: Repartitioner,
    hostsPerTarget: Int,
    options: MigrationOptions,
    round: Int) {
  private val n = options.targets
  private val ids =
    if (batches.isEmpty) 0 else batches.map(b => if (b.size == 0) 0 else b.ids.max + 1).max
  // Round 0 keeps the names every other simulation uses.
  private val keyOf = Array.tabulate(ids)(id => Hashing.choiceHash(Hashing.ofId(id.toLong), round))
  private val state = new Array[Int](ids)
  private var table = RoutingTable.plain(n, hostsPerTarget)

  def run(progress: () => Unit): RoundFigures = {
    val imbalances, overBound, migrations = Vector.newBuilder[Double]
    var past = KeyHistograms.empty
    var (updates, sinceUpdate, nanos) = (0, Int.MaxValue, 0L)
    batches.indices.foreach { b =>
      val loads = route(batches(b))
      imbalances += Measures.imbalance(loads)
      overBound += Measures.maxOverBound(
        loads,
        if (batches(b).size == 0) 0 else batches(b).counts(0))
      slideState(b)
      if (b < batches.length - 1) {
        val histogram = batches(b).histogram(keyOf, repartitioner.heavyKeys(n), n, hostsPerTarget)
        val start = System.nanoTime()
        val next = repartitioner.update(histogram, past, table)
        nanos += System.nanoTime() - start
        past = histogram
        val adopt = options.forceUpdate ||
          options.policy.decide(table, next, histogram, sinceUpdate).adopts
        migrations += (if (adopt) moved(table, next) else 0.0)
        if (adopt) {
          table = next
          updates += 1
          sinceUpdate = 1
        } else if (sinceUpdate < Int.MaxValue) sinceUpdate += 1
      }
      progress()
    }
    RoundFigures(
      imbalances.result(),
      overBound.result(),
      migrations.result(),
      updates,
      nanos.toDouble / math.max(1, batches.length - 1))
  }

  private def targetOf(in: RoutingTable, key: Long): Int =
    in.lookup(key, Hashing.host(key, n, hostsPerTarget), 0)

  private def route(batch: BatchCounts): Array[Long] = {
    val loads = new Array[Long](n)
    batch.ids.indices.foreach(i => loads(targetOf(table, keyOf(batch.ids(i)))) += batch.counts(i))
    loads
  }

  private def slideState(b: Int): Unit = {
    batches(b).ids.indices.foreach(i => state(batches(b).ids(i)) += batches(b).counts(i))
    if (b >= options.stateWindow) {
      val gone = batches(b - options.stateWindow)
      gone.ids.indices.foreach(i => state(gone.ids(i)) -= gone.counts(i))
    }
  }

  /** Share of the state whose target differs between two tables. */
  private def moved(from: RoutingTable, to: RoutingTable): Double = {
    var (all, changed) = (0L, 0L)
    var id = 0
    while (id < ids) {
      if (state(id) > 0) {
        all += state(id)
        if (targetOf(from, keyOf(id)) != targetOf(to, keyOf(id))) changed += state(id)
      }
      id += 1
    }
    if (all == 0) 0 else changed.toDouble / all
  }
}

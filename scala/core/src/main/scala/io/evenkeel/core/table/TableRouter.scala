// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.table

import io.evenkeel.core.{
  Hashing,
  LongIntMap,
  PlanningRouter,
  RouterContext,
  Snapshot,
  SnapshotParts,
  SplitMix64
}

/** Turns a histogram and the table in force into the next table. A pure function. */
trait TableSolver {
  def solve(histogram: KeyHistogram, previous: RoutingTable): RoutingTable
}

/**
 * Routes by a [[RoutingTable]] that is frozen from the first `sample` rows of the source: nothing is routed
 * before, and everything after it by the same table.
 *
 * Several sources share one table: whoever drives them merges what each `observed`, solves once and hands
 * the table to all by `adopt`. A single source does both in `plan`.
 *
 * A split key's rows are divided by a pseudo-random number per row, as the hash of a row's other columns
 * divides them in Spark.
 *
 * @param name kind of the snapshot
 * @param heavyKeys how many of the heaviest sampled keys the solver gets to see
 */
final class TableRouter(
    name: String,
    val context: RouterContext,
    hostsPerTarget: Int,
    sample: Int,
    heavyKeys: Int,
    seed: Long,
    solver: TableSolver)
    extends PlanningRouter {
  private val n = context.targets
  private val random = new SplitMix64(Hashing.mix(seed + context.source))
  private var table = RoutingTable.plain(n, hostsPerTarget)
  private var planned = false
  private val counts = new LongIntMap()

  override def lookahead: Int = if (planned) 0 else sample

  override def observe(keyHash: Long, weight: Long): Unit =
    // Counts are Int, which a sample of heavy weights may exceed: the key is heaviest anyway.
    counts.put(keyHash, math.min(Int.MaxValue.toLong, counts.getOrElse(keyHash, 0) + weight).toInt)

  /** Everything observed so far, for a driver that merges several sources. */
  def observed: LongIntMap = counts

  override def plan(): Unit =
    if (!planned)
      adopt(solver.solve(TableRouter.histogram(counts, n, hostsPerTarget, heavyKeys), table))

  /** Routes by this table from now on. */
  def adopt(newTable: RoutingTable): Unit = {
    table = newTable
    planned = true
    counts.clear()
  }

  def current: RoutingTable = table

  /** The table that `counts` of several sources together lead to. */
  def solve(counts: LongIntMap): RoutingTable =
    solver.solve(TableRouter.histogram(counts, n, hostsPerTarget, heavyKeys), table)

  override def route(keyHash: Long, weight: Long): Int = {
    val spread = if (table.splits) (random.nextLong() >>> 33).toInt else 0
    table.lookup(keyHash, Hashing.host(keyHash, n, hostsPerTarget), spread)
  }

  override def snapshot(): Array[Byte] = Snapshot.write(name, 1) { out =>
    out.writeBoolean(planned)
    out.writeLong(random.state)
    val bytes = table.toBytes
    out.writeInt(bytes.length)
    out.write(bytes)
    SnapshotParts.writeMap(out, counts)
  }

  override def restore(bytes: Array[Byte]): Unit = Snapshot.read(name, 1, bytes) { (_, in) =>
    planned = in.readBoolean()
    random.state = in.readLong()
    table = RoutingTable.fromBytes(in.readNBytes(in.readInt()))
    SnapshotParts.readMap(in, counts)
  }
}

object TableRouter {

  /** Histogram of exact counts: the `top` heaviest keys by name, the others summed per host. */
  def histogram(counts: LongIntMap, targets: Int, hostsPerTarget: Int, top: Int): KeyHistogram = {
    val keys = counts.sortedKeys.sortBy(k => -counts.getOrElse(k, 0))
    val tailOfHost = new Array[Double](targets * hostsPerTarget)
    var total = 0.0
    keys.indices.foreach { i =>
      val count = counts.getOrElse(keys(i), 0)
      total += count
      if (i >= top) tailOfHost(Hashing.host(keys(i), targets, hostsPerTarget)) += count
    }
    val heavy = keys.take(top)
    new KeyHistogram(heavy, heavy.map(k => counts.getOrElse(k, 0).toDouble), total, tailOfHost)
  }
}

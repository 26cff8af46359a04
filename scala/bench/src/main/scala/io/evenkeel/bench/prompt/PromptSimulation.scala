// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import io.evenkeel.core.{Hashing, Measures}

/**
 * Quality of cut micro-batches, averaged over batches (002 §3.3).
 *
 * @param bsi largest block minus average, in rows (Eq. 2)
 * @param bci most keys in a block minus average (Eq. 4)
 * @param ksr fragments per key (Eq. 5)
 * @param splitKeys keys with more than one fragment
 * @param mpi the three in equal parts (Eq. 6)
 * @param maxBlockOverIdeal largest block / (N/P)
 * @param maxBlockExcess largest block - ceil(N/P), the worst of all batches
 * @param fewestKeys fewest keys in a block / floor(K/P), the worst of all batches
 * @param reduceHash largest reduce input / average, all keys hashed
 * @param reduceInRounds the same with Alg. 3 as its text has it
 * @param reduce the same with Alg. 3 and the batch's split loads known to every map task
 */
final case class PromptResult(
    packer: String,
    batches: Int,
    rows: Long,
    bsi: Double,
    bci: Double,
    ksr: Double,
    splitKeys: Double,
    mpi: Double,
    maxBlockOverIdeal: Double,
    maxBlockExcess: Long,
    fewestKeys: Double,
    reduceHash: Double,
    reduceInRounds: Double,
    reduce: Double)

/** Cuts a trace into micro-batches and each batch into blocks, and measures the blocks. */
object PromptSimulation {

  /**
   * @param keys the trace: dense key ids
   * @param batchRows rows per micro-batch; a shorter rest counts only if it is all there is
   * @param packer a name that [[Cutters]] knows
   */
  def run(
      keys: Array[Int],
      batchRows: Int,
      blocks: Int,
      reducers: Int,
      packer: String): PromptResult = {
    val cutter = Cutters.create(packer, blocks)
    val size = math.max(1, math.min(batchRows, keys.length))
    val batches = keys
      .grouped(size)
      .filter(_.length == size)
      .map { ids =>
        measure(cutter.cut(ids.map(id => Hashing.ofId(id.toLong))), reducers)
      }
      .toVector
    def mean(of: BatchQuality => Double): Double =
      if (batches.isEmpty) 0 else batches.map(of).sum / batches.size
    PromptResult(
      packer,
      batches.size,
      batches.size.toLong * size,
      mean(_.bsi),
      mean(_.bci),
      mean(_.ksr),
      mean(_.splitKeys),
      mean(b => Measures.partitioningImbalance(b.bsi, b.bci, b.ksr)),
      mean(_.maxBlockOverIdeal),
      batches.map(_.maxBlockExcess).maxOption.getOrElse(0L),
      batches.map(_.fewestKeys).minOption.getOrElse(1.0),
      mean(_.reduceHash),
      mean(_.reduceInRounds),
      mean(_.reduce))
  }

  private final case class BatchQuality(
      bsi: Double,
      bci: Double,
      ksr: Double,
      splitKeys: Double,
      maxBlockOverIdeal: Double,
      maxBlockExcess: Long,
      fewestKeys: Double,
      reduceHash: Double,
      reduceInRounds: Double,
      reduce: Double)

  private def measure(cut: Cut, reducers: Int): BatchQuality = {
    val (loads, cards) = (cut.plan.loads, cut.plan.cards)
    val ideal = math.ceil(Measures.average(loads)).toLong
    val floor = cut.batch.size / cut.plan.blocks
    BatchQuality(
      Measures.excess(loads),
      Measures.excess(cards),
      Measures.fragmentsPerKey(cards, cut.batch.size.toLong),
      (0 until cut.plan.keys).count(cut.plan.isSplit).toDouble,
      Measures.maxOverAverage(loads),
      loads.max - ideal,
      if (floor == 0) 1 else cards.min.toDouble / floor,
      Measures.maxOverAverage(ReduceLoads.hashed(cut, reducers)),
      Measures.maxOverAverage(ReduceLoads.inRounds(cut, reducers)),
      Measures.maxOverAverage(ReduceLoads.levelled(cut, reducers)))
  }
}

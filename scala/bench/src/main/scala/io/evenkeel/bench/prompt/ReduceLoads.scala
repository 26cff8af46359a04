// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import io.evenkeel.core.Hashing
import io.evenkeel.core.prompt.{BucketAllocator, BucketChoice, SplitLoads}

/** What each reduce task receives when the map tasks of a cut batch hand on their rows uncombined. */
object ReduceLoads {

  /** Every key by hash. */
  def hashed(cut: Cut, reducers: Int): Array[Long] = {
    val loads = new Array[Long](reducers)
    cut.batch.keys.indices.foreach { s =>
      loads(Hashing.bucket(cut.batch.keys(s), reducers)) += cut.batch.counts(s)
    }
    loads
  }

  /** Alg. 3 of 002 in each map task, which knows its own block only. */
  def inRounds(cut: Cut, reducers: Int): Array[Long] =
    perTask(cut, reducers) { (task, block) =>
      BucketAllocator.allocate(block.keys, block.weights, block.split, reducers, task)
    }

  /** Alg. 3 with the batch's split loads known to every task, and always the least loaded bucket. */
  def levelled(cut: Cut, reducers: Int): Array[Long] = {
    val shared = SplitLoads.of(cut.batch.keys, cut.batch.counts, cut.plan, reducers)
    perTask(cut, reducers) { (task, block) =>
      BucketAllocator.allocate(
        block.keys,
        block.weights,
        block.split,
        shared.shareOf(block.unsplit),
        task,
        BucketChoice.LeastLoaded)
    }
  }

  private def perTask(
      cut: Cut,
      reducers: Int)(allocate: (Int, Block) => Array[Int]): Array[Long] = {
    val loads = new Array[Long](reducers)
    blocksOf(cut).zipWithIndex.foreach { case (block, task) =>
      val buckets = allocate(task, block)
      buckets.indices.foreach(i => loads(buckets(i)) += block.weights(i))
    }
    loads
  }

  private final class Block(
      val keys: Array[Long],
      val weights: Array[Long],
      val split: Array[Boolean]) {
    def unsplit: Long = weights.indices.iterator.filterNot(split(_)).map(weights(_)).sum
  }

  private def blocksOf(cut: Cut): Seq[Block] = {
    val plan = cut.plan
    val cards = plan.cards.map(_.toInt)
    val blocks = cards.map(c => new Block(new Array[Long](c), new Array(c), new Array(c)))
    val filled = new Array[Int](plan.blocks)
    (0 until plan.keys).foreach { s =>
      (plan.first(s) until plan.end(s)).foreach { f =>
        val (block, at) = (blocks(plan.block(f)), filled(plan.block(f)))
        block.keys(at) = cut.batch.keys(s)
        block.weights(at) = plan.weight(f)
        block.split(at) = plan.isSplit(s)
        filled(plan.block(f)) += 1
      }
    }
    blocks.toSeq
  }
}

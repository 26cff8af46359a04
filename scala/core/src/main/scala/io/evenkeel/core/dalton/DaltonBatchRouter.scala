// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, PlanningRouter, RouterContext, Snapshot}

/**
 * Dalton for micro-batches (000 §3.4): a batch is counted whole before its first row is routed, so
 * every heavy key is known from its first row and the threshold uses the batch's own load.
 *
 * Combiners reduce a micro-batch, not a window, so fragments are those of the current batch. What
 * was learned about a heavy key lives for the batch and the next one, longer while it stays heavy.
 *
 * Example, n = 4, a batch of 100 rows of which a key has 30: the threshold is 25, the key is heavy,
 * and all 30 rows go through the bandit, where [[DaltonRouter]] would hash the first 24.
 *
 * Guarantee: at most n heavy keys per batch. Counting is exact unless `store=sketch`, so memory
 * grows with the batch's distinct keys.
 */
final class DaltonBatchRouter(spec: RouterSpec, val context: RouterContext) extends PlanningRouter {
  private val n = context.targets
  private val heavy = spec(DaltonKind.heavy)
  private val wanted = heavy match {
    case HeavyKeys.Top(k) => k
    case _ => n
  }
  // Differs from the paper: loads are those of the batch, not of the window. A micro-batch engine
  // waits for the slowest target of each batch; evening out earlier batches would unbalance this
  // one.
  private val bandit = new Bandit(spec, context, slides = 1)
  private val store = new FrequencyStore(
    n,
    if (spec(DaltonKind.store) == StoreMode.Sketch) StoreMode.Sketch else StoreMode.Exact,
    8 * math.max(n, wanted))
  private var batch = 0L
  private var load = 0L
  private var learned = 0L

  override def lookahead: Int = Int.MaxValue

  override def observe(keyHash: Long, weight: Long): Unit = {
    store.add(keyHash, weight): Unit
    load += weight
  }

  override def plan(): Unit = {
    batch += 1
    heavyKeys().foreach { key =>
      val slot = bandit.slots.find(key)
      if (slot >= 0) bandit.slots.setLastHot(slot, batch)
      else bandit.admit(key, batch, hashed = false): Unit
    }
    bandit.endStats(batch - 1, if (heavy == HeavyKeys.All) 1L else Long.MaxValue)
    bandit.beginBatch()
    store.close(load)
    load = 0
  }

  override def route(keyHash: Long, weight: Long): Int = {
    val slot = bandit.slots.find(keyHash)
    if (slot >= 0) learn(slot, weight)
    else if (heavy == HeavyKeys.All) learn(bandit.admit(keyHash, batch, hashed = false), weight)
    else {
      val home = Hashing.bucket(keyHash, n)
      bandit.placed(home, weight)
      home
    }
  }

  /** Keys that have a Q row now. */
  def heavyCount: Int = bandit.slots.activeCount

  /** Rows the bandit has routed since the start. */
  def banditRows: Long = learned

  private def learn(slot: Int, weight: Long): Int = {
    bandit.slots.count(slot, weight)
    learned += 1
    bandit.route(slot, weight)
  }

  /** Heavy keys of the counted batch, the heaviest first. */
  private def heavyKeys(): Seq[Long] = {
    val least = heavy match {
      case HeavyKeys.Threshold => math.max(1L, (load + n - 1) / n)
      case HeavyKeys.Top(_) => 1L
      case HeavyKeys.All => Long.MaxValue
    }
    val found = Vector.newBuilder[CountedKey]
    store.listed((key, count) => if (count >= least) found += CountedKey(key, count, 0): Unit)
    found.result().sortBy(c => (-c.count, c.key)).take(wanted).map(_.key)
  }

  override def snapshot(): Array[Byte] = Snapshot.write(DaltonBatchRouter.Kind, 1) { out =>
    Seq(batch, load, learned).foreach(out.writeLong)
    store.write(out)
    bandit.write(out)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(DaltonBatchRouter.Kind, 1, bytes) { (_, in) =>
      batch = in.readLong()
      load = in.readLong()
      learned = in.readLong()
      store.read(in)
      bandit.read(in)
    }
}

private object DaltonBatchRouter {
  val Kind = "dalton-batch"
}

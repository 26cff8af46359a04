// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{
  Hashing,
  PlanningRouter,
  Router,
  RouterContext,
  Snapshot,
  SnapshotException
}

/** `prompt`: counts a micro-batch, then cuts it into equal blocks. */
object PromptKind extends RouterKind("prompt", "equal blocks of a counted micro-batch (Prompt)") {

  val Budget: Param[Int] = Param.int(
    "budget",
    10,
    1,
    1 << 20,
    "most updates of the count tree per key and batch (budget, 002 Alg. 1)")

  val Exact: Param[Boolean] = Param.flag(
    "exact",
    false,
    "sort the keys by exact count at the end of the batch instead (post-sort, 002 Fig. 14)")

  val Packer: Param[BlockPacker] = Param.choice[BlockPacker](
    "packer",
    BalancedPacker,
    Seq("balanced" -> BalancedPacker, "printed" -> PrintedPacker),
    "where residuals of split keys go: so that key counts stay even, or as printed (002 Alg. 2)")

  val params: Seq[Param[_]] = Seq(Budget, Exact, Packer)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new PromptRouter(context, spec(Budget), spec(Exact), spec(Packer))
}

/**
 * Routes a micro-batch by a plan made from its exact counts: `observe` all its rows, `plan`, then `route`
 * them in any order.
 *
 * Blocks are the targets. The rows of a split key fill its fragments one after the other, so the loads
 * are the plan's; with rows of weight w > 1 a fragment ends up to w - 1 late. A key the plan does not
 * know goes where HASH sends it; a key with more rows than observed starts over at its first fragment.
 *
 * Every target gets ceil(N/P) rows at most. Each source cuts its own batch: the targets' loads add up
 * evenly, but sources do not agree on where a key lies.
 *
 * 002 §4. Per row: one table look-up to observe and one to route.
 */
final class PromptRouter(
    val context: RouterContext,
    budget: Int,
    exact: Boolean,
    packer: BlockPacker)
    extends PlanningRouter {
  private val n = context.targets
  private val accumulator = new Accumulator(budget)
  private var history = BatchHistory.empty
  private var current = PlannedKeys.none

  override def lookahead: Int = Int.MaxValue

  override def observe(keyHash: Long, weight: Long): Unit =
    // No clock here: the time of a row is its number in the batch.
    accumulator.add(keyHash, weight, accumulator.rows)

  override def plan(): Unit = {
    val batch = accumulator.seal()
    // Each source starts its round at a block of its own; else block 0 gets every odd row.
    current = PlannedKeys(batch.keys, packer.pack(batch, n), context.source % n)
    history = history.add(BatchSize(accumulator.rows, accumulator.weight, accumulator.distinctKeys))
    accumulator.start(if (exact) None else history.estimate)
  }

  override def route(keyHash: Long, weight: Long): Int = {
    val target = current.route(keyHash, weight)
    if (target < 0) Hashing.bucket(keyHash, n) else target
  }

  /** The batch is over and with it its plan. */
  override def endWindow(): Unit = current = PlannedKeys.none

  override def snapshot(): Array[Byte] =
    Snapshot.write(PromptKind.name, 1) { out =>
      out.writeInt(n)
      out.writeInt(history.sizes.size)
      history.sizes.foreach { size =>
        out.writeLong(size.rows)
        out.writeLong(size.weight)
        out.writeInt(size.keys)
      }
      accumulator.write(out)
      current.write(out)
    }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(PromptKind.name, 1, bytes) { (_, in) =>
      val targets = in.readInt()
      if (targets != n)
        throw new SnapshotException(s"This snapshot is of a router with $targets targets, not $n.")
      history = BatchHistory(
        Vector.fill(in.readInt())(BatchSize(in.readLong(), in.readLong(), in.readInt())))
      accumulator.read(in)
      current = PlannedKeys.read(in)
    }
}

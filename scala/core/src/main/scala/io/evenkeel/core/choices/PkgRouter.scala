// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot, SnapshotParts}

/** How a source knows the load of the targets (003 §III, §V). */
sealed trait LoadEstimation

object LoadEstimation {

  /** It counts what it sent itself. */
  case object Local extends LoadEstimation

  /** It sees the true loads on every row. */
  case object Global extends LoadEstimation

  /** It counts itself, and takes over the true loads now and then. */
  case object Probing extends LoadEstimation

  val words: Seq[(String, LoadEstimation)] =
    Seq("local" -> Local, "global" -> Global, "probing" -> Probing)
}

/** `pkg`: partial key grouping. */
object PkgKind extends RouterKind("pkg", "the less loaded of d hash targets, row by row (003)") {
  val d: Param[Int] =
    Param.int("d", 2, 1, 1024, "choices per key (003 §III); 1 is plain hashing, 5 is PK-5 of 001")

  val load: Param[LoadEstimation] = Param.choice[LoadEstimation](
    "load",
    LoadEstimation.Local,
    LoadEstimation.words,
    "whose rows count as load: this source's, all sources', or this source's with probing (003 §V)")

  val probe: Param[Int] =
    Param.int("probe", 10000, 1, Int.MaxValue, "rows between two probes, for load=probing (003 §V)")

  val params: Seq[Param[_]] = Seq(d, load, probe)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    spec(load) match {
      case LoadEstimation.Local => new PkgRouter(context, spec(d))
      case LoadEstimation.Global => new SharedPkgRouter(context, spec(d), Int.MaxValue, true)
      case LoadEstimation.Probing => new SharedPkgRouter(context, spec(d), spec(probe), false)
    }
}

/**
 * Partial key grouping with local load estimation: each row goes to the least loaded of its key's `d` hash
 * targets, by what this source sent so far.
 *
 * Example, n = 4, d = 2: a key with candidates 1 and 3 sends its rows to 1, 3, 1, 3 if nothing else comes.
 * If another key has filled 3 with ten rows, the next ten rows go to 1.
 *
 * Guarantee: at most `d` fragments per key. With `p1 <= 1/(5n)` and at least `n^2` rows the excess load is
 * O(rows / n) for d >= 2, where hashing has a factor `ln n / ln ln n` more (003 Thm 4.1). Once `p1 > d/n`
 * the imbalance cannot fall below `p1 * n / d - 1`: see [[DChoicesRouter]]. Loads count since the start.
 * Cost: `d` hashes and comparisons per row, `n` longs.
 */
final class PkgRouter(val context: RouterContext, d: Int) extends Router {
  private val n = context.targets
  private val loads = new Array[Long](n)

  override def route(keyHash: Long, weight: Long): Int = {
    val target = if (d == 2) lesserOfTwo(keyHash) else LeastOfChoices(keyHash, d, loads)
    loads(target) += weight
    target
  }

  private def lesserOfTwo(keyHash: Long): Int = {
    val first = Hashing.bucket(keyHash, n)
    val second = Hashing.choice(keyHash, 1, n)
    if (loads(first) <= loads(second)) first else second
  }

  override def snapshot(): Array[Byte] =
    Snapshot.write(PkgKind.name, 1)(SnapshotParts.writeLongs(_, loads))

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(PkgKind.name, 1, bytes)((_, in) => SnapshotParts.readLongs(in, loads))
}

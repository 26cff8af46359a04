// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.load.LeastLoaded
import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext, Snapshot, SnapshotParts}

/** `wchoices`: all targets for heavy keys, two for the others. */
object WChoicesKind
    extends RouterKind(
      "wchoices",
      "heavy keys to the least loaded target of all, the rest as pkg") {
  val theta: Param[Double] = HeadParams.theta()

  val params: Seq[Param[_]] = Seq(theta)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new WChoicesRouter(context, spec(theta))
}

/** Parameters of the routers that treat heavy keys differently. */
private[choices] object HeadParams {

  def theta(): Param[Double] = Param.double(
    "theta",
    0.2,
    0.01,
    10,
    "a key is heavy from this share of an average target's load on; 0.2 is a share of 1/(5n)")
}

/**
 * W-choices: each row of a heavy key goes to the least loaded of all targets; other keys have two choices,
 * as in [[PkgRouter]].
 *
 * Example, n = 64 and a key with half of all rows: two targets would get 16 times the average each; here
 * the key fills whatever is emptiest, and the imbalance nearly vanishes.
 *
 * Guarantee: no floor of `p1 * n / 2 - 1`; keys below `theta / n / 2` have at most two fragments, heavy
 * ones up to n. Cost: one count in a bounded sketch and two hashes per row, or a step of [[LeastLoaded]]; no
 * scan of the targets.
 */
final class WChoicesRouter(val context: RouterContext, theta: Double) extends Router {
  private val loads = new Array[Long](context.targets)
  private val all = new LeastLoaded(loads)
  private val head = new HeadKeys(context, theta)

  override def route(keyHash: Long, weight: Long): Int = {
    val target =
      if (head.classify(keyHash, weight) == HeadKeys.Heavy) all.target
      else LeastOfChoices(keyHash, 2, loads)
    loads(target) += weight
    all.raised(target)
    target
  }

  override def endSlide(): Unit = {
    head.endSlide()
    ()
  }

  override def snapshot(): Array[Byte] = Snapshot.write(WChoicesKind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    head.write(out)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(WChoicesKind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      all.recount()
      head.read(in)
    }
}

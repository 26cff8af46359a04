// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.table.TableRouter
import io.evenkeel.core.{Router, RouterContext}

/** How a KEEL set takes in one more target. */
sealed trait Growth

object Growth {

  /** The least loaded of all targets: fewest fragments for one source. */
  case object Least extends Growth

  /** The next of the key's hash sequence: sets of several sources coincide. */
  case object Hash extends Growth

  /** `Least` for one source, `Hash` for several. */
  case object Auto extends Growth
}

private[keel] final case class KeelSettings(
    theta: Double,
    slack: Double,
    capacity: Int,
    growLeast: Boolean,
    steer: Boolean)

/** `keel`: our own router, online. */
object KeelKind extends RouterKind("keel", "sticky target sets for heavy keys, hash for the tail") {
  val theta: Param[Double] = Param.double(
    "theta",
    0.05,
    0.001,
    1,
    "share of a target's average load from which a key is heavy")
  val slack: Param[Double] = Param.double(
    "slack",
    0.1,
    0,
    1,
    "how far above the average a target may be before a key on it takes in one more")
  val capacity: Param[Int] = Param.int("capacity", 4096, 16, 1 << 20, "most heavy keys at a time")
  val grow: Param[Growth] = Param.choice[Growth](
    "grow",
    Growth.Auto,
    Seq("auto" -> Growth.Auto, "hash" -> Growth.Hash, "least" -> Growth.Least),
    "where a set grows: auto is least for one source and hash for several")
  val steer: Param[Boolean] =
    Param.flag("steer", true, "tighten the slack while windows end above it; one source only")

  val sync: Param[Boolean] = Param.flag(
    "sync",
    false,
    "share a table of the heavy keys' sets between sources at the end of each slide")

  val params: Seq[Param[_]] = Seq(theta, slack, capacity, grow, steer, sync)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router = {
    val alone = context.sources == 1
    val least = spec(grow) == Growth.Least || (spec(grow) == Growth.Auto && alone)
    new KeelRouter(
      context,
      KeelSettings(spec(theta), spec(slack), spec(capacity), least, spec(steer) && alone))
  }
}

/** `keel_table`: KEEL's rule solved once on the first rows, then frozen. */
object KeelTableKind
    extends RouterKind("keel_table", "heavy keys split by a table frozen from the first rows") {
  val sample: Param[Int] =
    Param.int("sample", 2000, 1, Int.MaxValue, "rows of each source the table is made from")
  val slack: Param[Double] =
    Param.double("slack", 0.005, 0, 1, "how far above the average the table may load a target")
  val hosts: Param[Int] = Param.int("hosts", 1, 1, 1024, "hosts per target for the tail")
  val heavy: Param[Int] =
    Param.int("heavy", 256, 0, 1 << 20, "how many of the heaviest sampled keys the solver sees")
  val seed: Param[Long] = Param.long("seed", 1, "divides the rows of a split key over its list")

  val params: Seq[Param[_]] = Seq(sample, slack, hosts, heavy, seed)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new TableRouter(
      name,
      context,
      spec(hosts),
      spec(sample),
      spec(heavy),
      spec(seed),
      new KeelSolver(spec(slack), sampled = true))
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.table.TableRouter
import io.evenkeel.core.{Router, RouterContext}

/** A baseline of 004 §5 that the simulator can route with, from a table frozen after a sample. */
sealed abstract class BaselineKind(name: String, summary: String)
    extends RouterKind(name, summary) {
  final val lambda: Param[Double] =
    Param.double("lambda", 2, 0, 1024, "keys per target with an explicit route (004 §5)")

  final val sample: Param[Int] =
    Param.int("sample", 10000, 1, 10000000, "rows of each source seen before the table is frozen")

  final val seed: Param[Long] = Param.long("seed", 1, "seed of the router")

  def repartitioner(spec: RouterSpec): Repartitioner

  final def create(spec: RouterSpec, context: RouterContext): Router = {
    val method = repartitioner(spec)
    val keys = method.heavyKeys(context.targets)
    new TableRouter(name, context, 1, spec(sample), keys, spec(seed), method)
  }
}

sealed abstract class GedikKind(name: String, summary: String) extends BaselineKind(name, summary) {
  final val theta: Param[Double] =
    Param.double("theta", 0.2, 0.001, 100, "θ: balance constraint of every resource (004 §5)")

  final val compute: Param[Boolean] = Param.choice(
    "compute",
    false,
    Seq("linear" -> false, "quadratic" -> true),
    "how computation grows with a key's frequency: 004 §5 says linear, its code squares")
}

object ScanKind extends GedikKind("scan", "heaviest key first to the best target (Gedik 2014)") {
  val params: Seq[Param[_]] = Seq(lambda, theta, compute, sample, seed)

  def repartitioner(spec: RouterSpec): Repartitioner =
    new Scan(spec(lambda), spec(theta), spec(compute))
}

object RedistKind extends GedikKind("redist", "best pair of key and target next (Gedik 2014)") {
  val params: Seq[Param[_]] = Seq(lambda, theta, compute, sample, seed)

  def repartitioner(spec: RouterSpec): Repartitioner =
    new Redist(spec(lambda), spec(theta), spec(compute))
}

object ReadjKind
    extends GedikKind("readj", "best single move or swap, again and again (Gedik 2014)") {
  val stop: Param[ReadjStop] = Param.choice[ReadjStop](
    "stop",
    ReadjStop.Balance,
    ReadjStop.all.map(s => s.name -> s),
    "when to stop: at the constraint, at the best utility, or at the best balance (004's code)")

  val params: Seq[Param[_]] = Seq(lambda, theta, compute, stop, sample, seed)

  def repartitioner(spec: RouterSpec): Repartitioner =
    new Readj(spec(lambda), spec(theta), spec(compute), spec(stop))
}

object MixedKind extends BaselineKind("mixed", "few moves, bounded table (Fang 2016)") {
  val thetaMax: Param[Option[Double]] = Param.custom[Option[Double]](
    "thetaMax",
    None,
    "auto, or a number from 0 to 100",
    "bound on the relative overload; auto optimises it on the first batch (004 §5)") { text =>
    if (text.equalsIgnoreCase("auto")) Some(None)
    else text.toDoubleOption.filter(v => v >= 0 && v <= 100).map(Some(_))
  }(_.fold("auto")(_.toString))

  val params: Seq[Param[_]] = Seq(lambda, thetaMax, sample, seed)

  def repartitioner(spec: RouterSpec): Repartitioner = new Mixed(spec(lambda), spec(thetaMax))
}

/** The baselines of 004 §5: the simulator's grammar is the product's kinds and these. */
object BaselineKinds {
  val all: Seq[RouterKind] = Seq(ScanKind, RedistKind, ReadjKind, MixedKind)
}

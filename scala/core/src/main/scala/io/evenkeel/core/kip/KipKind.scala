// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.table.TableRouter
import io.evenkeel.core.{Router, RouterContext}

/** `kip`: whole keys, the heavy ones with homes of their own, from a table frozen after a sample. */
object KipKind extends RouterKind("kip", "keys stay whole, heavy ones get explicit homes (004)") {

  val lambda: Param[Double] = Param.double(
    "lambda",
    2,
    0,
    1024,
    "λ: heavy keys per target that get a route of their own, B = λN (004 §4)")

  val epsilon: Param[Option[Double]] = Param.custom[Option[Double]](
    "epsilon",
    None,
    "auto, or a number from 0 to 1",
    "ε: slack over max(1/N, p1), as a share of all load (004 §4); auto is 0.02/N") { text =>
    if (text.equalsIgnoreCase("auto")) Some(None)
    else text.toDoubleOption.filter(v => v >= 0 && v <= 1).map(Some(_))
  }(_.fold("auto")(_.toString))

  val hosts: Param[Int] =
    Param.int(
      "hosts",
      16,
      1,
      4096,
      "virtual hosts per target, H/N: the grain in which the tail moves (004 §4)")

  val hostWeights: Param[HostWeights] = Param.choice[HostWeights](
    "hostWeights",
    HostWeights.Shrunk,
    HostWeights.all.map(w => w.name -> w),
    "tail on each host: all alike (004 Alg. 1, line 2), as sampled, or sampled less chance")

  val sample: Param[Int] =
    Param.int(
      "sample",
      10000,
      1,
      10000000,
      "rows of each source that are seen before the table is frozen (004 §3)")

  val seed: Param[Long] = Param.long("seed", 1, "seed of the router")

  val params: Seq[Param[_]] = Seq(lambda, epsilon, hosts, hostWeights, sample, seed)

  /** The solver of a spec for `targets` targets. */
  def solver(spec: RouterSpec, targets: Int): KipSolver =
    new KipSolver(spec(epsilon).getOrElse(0.02 / targets), spec(hostWeights))

  /** How many heavy keys the solver of a spec gets to see: B. */
  def heavyKeys(spec: RouterSpec, targets: Int): Int = math.ceil(spec(lambda) * targets).toInt

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new TableRouter(
      name,
      context,
      spec(hosts),
      spec(sample),
      heavyKeys(spec, context.targets),
      spec(seed),
      solver(spec, context.targets))
}

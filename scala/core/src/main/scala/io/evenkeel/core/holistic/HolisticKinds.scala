// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext}

/** What the kinds of 001 have in common. */
sealed abstract class HolisticKind(name: String, summary: String)
    extends RouterKind(name, summary) {
  val choices: Param[Int] =
    Param.int("choices", 2, 1, 30, "candidate targets per key, d (001 Table 2 has 2 and 5)")

  val cardinality: Param[Cardinality] = Param.choice[Cardinality](
    "cardinality",
    Cardinality.Exact,
    Cardinality.words,
    "distinct keys per target: hash set, or HyperLogLog with 2^12 registers (001 §3.2)")

  def params: Seq[Param[_]] = Seq(choices, cardinality)

  final private[holistic] def held(spec: RouterSpec, context: RouterContext): HeldKeys =
    spec(cardinality) match {
      case Cardinality.Exact => new ExactHeldKeys(context.targets)
      case Cardinality.Hll => new SketchedHeldKeys(context.targets)
    }
}

/** `cm`: cardinality imbalance minimisation. */
object CmKind extends HolisticKind("cm", "of d hash targets the one with fewest keys (001)") {
  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new CmRouter(context, spec(choices), held(spec, context))
}

/** `am`: group affinity, then cardinality. */
object AmKind
    extends HolisticKind("am", "a hash target that holds the key, else fewest keys (001)") {
  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new AmRouter(context, spec(choices), held(spec, context))
}

/** `cam`: group affinity, then rows. */
object CamKind
    extends HolisticKind("cam", "a hash target that holds the key, else fewest rows (001)") {
  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new CamRouter(context, spec(choices), held(spec, context))
}

/** `lm`: hybrid imbalance minimisation. */
object LmKind extends HolisticKind("lm", "of d hash targets the least hybrid load (001)") {
  val p: Param[Double] =
    Param.double(
      "p",
      0.5,
      0,
      1,
      "weight of rows against distinct keys in the hybrid load (001 Eq. 9)")

  override def params: Seq[Param[_]] = super.params :+ p

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new LmRouter(context, spec(choices), held(spec, context), spec(p))
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

/** How the Q rows of several agents become one (000 §4.1): the parameter `merge`. */
sealed abstract class MergeRule(val word: String)

object MergeRule {

  /**
   * As printed: `Σ f_j Q_j / (GL * P)`. It shrinks every value towards 0, above what an agent's own
   * rewards reach: after each synchronisation all known actions look promising again, so agents try
   * them.
   */
  case object Printed extends MergeRule("printed")

  /** A true weighted average: `Σ f_j Q_j / Σ f_j` over the agents that have the row. */
  case object Weighted extends MergeRule("weighted")

  val all: Seq[MergeRule] = Seq(Printed, Weighted)

  val Default: MergeRule = Printed
}

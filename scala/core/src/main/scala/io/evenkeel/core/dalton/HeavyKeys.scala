// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

/** Which keys the bandit routes: the parameter `heavy`. */
sealed abstract class HeavyKeys(val word: String)

object HeavyKeys {

  /** Keys with at least an n-th of the load (000 Def. 3.3). */
  case object Threshold extends HeavyKeys("threshold")

  /**
   * Every key, the "non-hybrid" ablation of 000 Fig. 11; rows beyond the table's size are evicted.
   */
  case object All extends HeavyKeys("all")

  /** The `k` most frequent keys of the last STATS_WIN, as 000 Fig. 10c varies them. */
  final case class Top(k: Int) extends HeavyKeys(s"top($k)")

  val MaxTop: Int = 4096

  private[dalton] def parse(text: String): Option[HeavyKeys] = {
    val plain = text.trim.toLowerCase(java.util.Locale.ROOT)
    if (plain == Threshold.word) Some(Threshold)
    else if (plain == All.word) Some(All)
    else if (plain.startsWith("top(") && plain.endsWith(")"))
      plain.substring(4, plain.length - 1).trim.toIntOption.collect {
        case k if k >= 1 && k <= MaxTop => Top(k)
      }
    else None
  }
}

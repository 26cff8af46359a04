// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import java.io.{DataInputStream, DataOutputStream}

/**
 * How full a target may be before a KEEL key on it looks for another, by one of two rules.
 *
 * '''Sliding''', the usual one: around the average of the loads now. While the window that ended is above
 * the goal the limits tighten, otherwise they widen again, up to 1.3 times (`steer`).
 *
 * '''Filling''', for a stream whose heavy keys are new ones all the time: loads start at zero with the
 * window, and the limit is what a target may hold at the window's ''end'', by the weight of the window
 * before, less what the tail will still bring. Around the average, each new key would have to fit into the
 * small holes that expired rows leave on all targets. Of the room for heavy keys only `Head` is open at the
 * start, for the sake of the keys to come.
 *
 * {{{
 * window of 100 rows per target, 20 of them tail, slack 0.1 (0.07 is in force), half of it passed:
 * 20 x 0.5 + (107 - 20) x (0.45 + 0.55 x 0.5) = 73 is the limit, 100 - 20 x 0.5 = 90 that of a light key
 * }}}
 *
 * A filled window that is longer than expected is levelled as it goes on; a much shorter one ends uneven.
 */
private[keel] final class KeelLimits(targets: Int, slack: Double, theta: Double) {
  import KeelLimits._

  /** A row stays with the member used last up to this load. */
  var room = 0.0

  /** A set whose members are above its limit takes in one more target. */
  var limit = 0.0

  // A key that fits on one target waits longer: a bigger one can leave its target for less. A shared set
  // waits longest: what one source has too much of, another has too little of.
  var light = 0.0
  var shared = 0.0

  /** Weight below which a key is light. */
  var lightBelow = 0.0

  /** Weight from which a key is heavy. */
  var heavyFrom = 0.0

  private var average = 0.0

  // How much of the slack is in force.
  private var easing = 1.0

  private var fills = false
  private var expected = 0.0
  private var expectedTail = 0.0

  def filling: Boolean = fills

  /** From here on limits slide. */
  def slide(): Unit = fills = false

  /** A window starts that is to hold `weight`, of which `tail` comes from light keys. */
  def fill(weight: Long, tail: Long): Unit = {
    fills = true
    expected = weight.toDouble / targets
    expectedTail = math.min(expected, tail.toDouble / targets)
  }

  /** Limits for loads that sum up to `total`; no key with less than `least` is heavy. */
  def renew(total: Long, row: Double, least: Double): Unit = {
    average = total.toDouble / targets
    if (fills) renewFilling(row) else renewSliding(row)
    heavyFrom = math.max(heavyFrom, math.max(HeavyRows * row, least))
  }

  private def renewSliding(row: Double): Unit = {
    val eased = slack * easing
    room = average
    limit = average + math.max(eased * average, 2 * row)
    light = average + math.max(LightSlack * eased * average, 2 * row)
    shared = average + SharedSlack * (limit - average)
    lightBelow = average
    // Tight limits need more keys in hand.
    heavyFrom = theta * math.max(0.5, math.min(1.0, 2 * easing)) * average
  }

  private def renewFilling(row: Double): Unit = {
    val whole = math.max(average, expected)
    val passed = average / whole
    val full = whole + math.max(FillSlack * slack * whole, 2 * row)
    limit = expectedTail * passed + (full - expectedTail) * (Head + (1 - Head) * passed)
    room = limit
    light = math.max(limit, whole - expectedTail * (1 - passed))
    shared = light
    lightBelow = LightShare * whole
    heavyFrom = FillTheta * theta * whole
  }

  /** A slide ends, with `max` on the fullest target. */
  def steer(max: Long): Unit =
    if (!fills && average > 0)
      easing =
        if (max / average - 1 > SteerAt * slack) math.max(MinEasing, easing * 0.7)
        else math.min(MaxEasing, easing * 1.1)

  /** Below this a key seen before is no longer kept apart from the tail. */
  def lasting: Double = heavyFrom / 2

  /** Whether a weight is below what makes a key heavy when there is room for all of them. */
  def isSmall(weight: Long): Boolean = weight < theta * average

  def write(out: DataOutputStream): Unit = {
    out.writeBoolean(fills)
    Seq(room, limit, light, shared, lightBelow, heavyFrom).foreach(out.writeDouble)
    Seq(average, easing, expected, expectedTail).foreach(out.writeDouble)
  }

  def read(in: DataInputStream): Unit = {
    fills = in.readBoolean()
    room = in.readDouble()
    limit = in.readDouble()
    light = in.readDouble()
    shared = in.readDouble()
    lightBelow = in.readDouble()
    heavyFrom = in.readDouble()
    average = in.readDouble()
    easing = in.readDouble()
    expected = in.readDouble()
    expectedTail = in.readDouble()
  }
}

private[keel] object KeelLimits {

  // A key seen less often is not known to be heavy, however small the average still is.
  private val HeavyRows = 6
  private val LightSlack = 1.5
  private val SharedSlack = 1.5
  private val SteerAt = 0.9
  private val MinEasing = 0.1
  private val MaxEasing = 1.3

  // While filling: how much of the heavy keys' room is open at the start, the part of slack and of theta in
  // force, and below what share of a target's load a key is light.
  private val Head = 0.45
  private val FillSlack = 0.7
  private val FillTheta = 0.8
  private val LightShare = 0.12
}

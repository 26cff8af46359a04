// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import scala.util.Random

/**
 * Random operators with random backends, halted at random places in random batches, some twice in a row.
 *
 * `EVENKEEL_SEED` starts elsewhere, `EVENKEEL_CRASHES` sets how often a process is halted (200 in the soak).
 */
class RandomHaltSuite extends HaltedStreams {
  private val seed = sys.env.get("EVENKEEL_SEED").fold(20261116L)(_.toLong)
  private val wanted = sys.env.get("EVENKEEL_CRASHES").fold(2)(_.toInt)
  private val perLife = 10

  override protected def batches: Int = if (wanted < perLife) 8 else 16

  (0 until (wanted + perLife - 1) / perLife).foreach { number =>
    val halts = math.min(perLife, wanted - number * perLife)
    test(s"life $number of seed $seed, halted $halts times, goes on as if nothing had been") {
      val random = new Random(seed * 1000003 + number)
      def any[T](from: Seq[T]): T = from(random.nextInt(from.size))
      var left = halts
      // A place that is not reached before the input ends costs a life, not a halt.
      while (left > 0) {
        val crashed = any(CrashCases.all)
        val backend = any(crashed.query.backends)
        val life = new Life(crashed, backend, cores = 1 + random.nextInt(2))
        var met = Seq.empty[CrashPoint]
        var batch = 1L
        var isAlive = true
        withClue(s"seed $seed, life $number, ${crashed.query.name}, ${backend.name}: ") {
          while (left > 0 && isAlive && batch < batches) {
            val point =
              CrashPoint(any(CrashPoint.places), batch, random.nextInt(partitions + 1) - 1)
            isAlive = withClue(s"after $met at $point: ")(life.haltsAt(point))
            if (isAlive) {
              met :+= point
              left -= 1
            }
            // One in six is tried again in the same batch.
            if (random.nextInt(6) > 0) batch += 1 + random.nextInt(2)
          }
          withClue(s"after $met: ") {
            if (isAlive) life.finish()
            life.assertWhole()
          }
        }
        info(s"${crashed.query.name}, ${backend.name}: ${met.mkString(", ")}")
      }
    }
  }
}

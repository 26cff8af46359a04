// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.trace.{Generators, KeyWeights}

/** Figures an honest Prompt meets and hash, shuffle and two choices do not, over several seeds. */
class PromptAcceptanceSuite extends AnyFunSuite {
  private val seeds = Seq(1L, 2L, 3L)
  private val batchRows = 100000

  private def trace(exponent: Double, seed: Long, scramble: Boolean = true): Array[Int] =
    Generators.stationary(KeyWeights.zipf(100000, exponent), 2 * batchRows, seed, scramble)

  private def run(exponent: Double, blocks: Int, seed: Long, packer: String): PromptResult =
    PromptSimulation.run(trace(exponent, seed), batchRows, blocks, 16, packer)

  Seq((1.0, 16), (1.5, 64)).foreach { case (exponent, blocks) =>
    test(s"Zipf $exponent on $blocks blocks: no block above ceil(N/P) + 1, KSR at most 1.12") {
      for {
        seed <- seeds
        scramble <- Seq(true, false)
        packer <- Seq("prompt", "prompt(exact=on)")
      } {
        val result = PromptSimulation
          .run(trace(exponent, seed, scramble), batchRows, blocks, 16, packer)
        val clue = s"seed $seed, scrambled $scramble: $result"
        assert(result.maxBlockExcess <= 1, clue)
        assert(result.ksr <= 1.12, clue)
        assert(result.fewestKeys >= 1, clue)
      }
    }

    test(s"Zipf $exponent on $blocks blocks: key counts stay even, as the printed order's do not") {
      seeds.foreach { seed =>
        val ours = run(exponent, blocks, seed, "prompt")
        val printed = run(exponent, blocks, seed, "prompt(packer=printed)")
        assert(ours.bci <= 5, s"seed $seed: $ours")
        assert(printed.bci > 5 * ours.bci && printed.ksr > ours.ksr, s"seed $seed: $printed")
      }
    }

    test(s"Zipf $exponent on $blocks blocks: hash fails on size, shuffle on locality") {
      seeds.foreach { seed =>
        assert(run(exponent, blocks, seed, "hash").bsi > 5000, s"seed $seed")
        assert(run(exponent, blocks, seed, "shuffle").ksr > 1.8, s"seed $seed")
      }
    }
  }

  test("Zipf 1.0 on 16 reducers: the largest reduce input is at most 0.9 of hash's") {
    seeds.foreach { seed =>
      val result = run(1.0, 16, seed, "prompt")
      assert(result.reduce <= 0.9 * result.reduceHash, s"seed $seed: $result")
    }
  }

  test("Zipf 1.0 on 16 reducers: on average over seeds, even tasks that see one block beat hash") {
    val results = (1L to 5L).map(run(1.0, 16, _, "prompt"))
    assert(
      results.map(_.reduceInRounds).sum < results.map(_.reduceHash).sum,
      results.mkString("\n"))
  }
}

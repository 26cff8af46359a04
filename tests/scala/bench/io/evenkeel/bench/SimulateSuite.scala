// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import java.io.ByteArrayOutputStream

import org.scalatest.funsuite.AnyFunSuite

class SimulateSuite extends AnyFunSuite {

  private def lines(command: String): Seq[String] = {
    val out = new ByteArrayOutputStream()
    Console.withOut(out)(Simulate.main(command.split(' ')))
    out.toString("UTF-8").linesIterator.toSeq
  }

  test("each mode writes the fields that its figures need") {
    val routing =
      lines("--router hash --trace zipf:1.5:500 --rows 4000 --window 1000 --slide 100 --json")
    val names = Seq(
      "router",
      "targets",
      "rows",
      "windows",
      "imbalance",
      "max_over_avg",
      "gamma_per_key",
      "max_fragments",
      "max_reducer",
      "ci",
      "hi",
      "ns_per_row",
      "bsi",
      "bci",
      "ksr",
      "mpi",
      "max_block_over_ideal",
      "final_excess_rows",
      "top_fragments")
    assert(routing.size == 1 && names.forall(n => routing.head.contains(s""""$n": """)))

    val moves = lines(
      "--router kip,hash,scan,readj,redist,mixed --trace zipf:1.0:500 --batches 3 " +
        "--batch-rows 2000 --targets 4,8 --force-update --json")
    assert(moves.size == 12)
    assert(moves.forall(l =>
      Seq("max_over_bound", "migration_first", "migration_steady").forall(n => l.contains(n))))

    val blocks = lines(
      "--packer time,ffd,prompt --trace zipf:1.0:500 --batches 2 --batch-rows 2000 " +
        "--targets 8 --reducers 4 --json")
    assert(blocks.size == 3 && blocks.forall(_.contains(""""max_block_over_ideal": """)))
  }

  test("a series has a line per window beside the result") {
    val out = lines(
      "--router hash --trace zipf:1.5:500 --rows 4000 --window 1000 --slide 100 --json --series")
    assert(out.size == 4 && out.tail.forall(_.contains(""""row": """)))
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.sim.SourceSplit

class SimulateOptionsSuite extends AnyFunSuite {

  private def parse(text: String): SimulateOptions = SimulateOptions.parse(text.split(' ').toSeq)

  private def message(text: String): String = intercept[UsageException](parse(text)).getMessage

  test("every option reaches its field, in either notation") {
    val o = parse(
      "--router hash,shuffle --trace uniform --trace zipf:1.5 --targets=8 --window 500 --slide 50 " +
        "--seed 3 --sources 4 --source-split key --rows 900 --reducers 2 --json")
    assert(
      o.routers.map(_.toString) == Seq("hash", "shuffle") && o.traces == Seq("uniform", "zipf:1.5"))
    assert((o.targets, o.window, o.slide, o.seed, o.rows) == ((Seq(8), Some(500), 50, 3L, 900)))
    assert((o.sources, o.split, o.reducers, o.json) == ((4, SourceSplit.Key, 2, true)))
  }

  test("defaults are those of the help text") {
    val o = parse("--trace zipf:1.5")
    assert(
      (o.targets, o.window, o.slide, o.seed, o.rows) == ((Seq(64), Some(60000), 1000, 7L, 600000)))
    assert(o.sources == 1 && o.split == SourceSplit.Shuffle && !o.json)
    assert(parse("--trace zipf:1.5 --window all").window.isEmpty)
  }

  test("several numbers of targets are divided by commas") {
    assert(parse("--trace uniform --targets 5,10,50").targets == Seq(5, 10, 50))
  }

  test("the rivals of kip and the packers of Prompt are known beside the product's routers") {
    val o =
      parse("--router kip,hash,scan,readj,redist,mixed --trace uniform --batches 20 --force-update")
    assert(o.routers.map(_.name) == Seq("kip", "hash", "scan", "readj", "redist", "mixed"))
    assert(o.batches.contains(20) && o.forceUpdate && o.batchRows == 100000)
    assert(!parse("--trace uniform --router all").routers.exists(_.name == "scan"))
    assert(parse("--trace uniform --packer time,pkg(d=5)").packers == Seq("time", "pkg(d=5)"))
  }

  test("each mistake is one sentence that says what to write") {
    assert(message("--router hash").contains("add --trace"))
    assert(message("--trace uniform --targets 0").contains("at least 1, not '0'"))
    assert(message("--trace uniform --window 10 --slide 20").contains("shorter than the slide"))
    assert(message("--trace uniform --target 5").contains("Did you mean --targets?"))
    assert(message("--trace uniform --rows").contains("needs a value"))
    assert(message("--trace uniform --source-split hash").contains("shuffle, key or edge"))
    assert(message("--trace uniform --targets 5,x").contains("at least 1, not 'x'"))
    assert(message("--trace uniform --series").contains("add --json"))
    assert(message("--trace uniform --trace zipf:1.5 --source-split edge").contains("one trace"))
    assert(message("--trace uniform --seed x").contains("whole number"))
  }
}

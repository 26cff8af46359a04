// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.Hashing
import io.evenkeel.core.kip.RepartitionPolicy
import io.evenkeel.core.spec.{RouterKinds, RouterSpec, SpecException, SpecGrammar}
import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

class MigrationSimulationSuite extends AnyFunSuite {
  private val grammar = new SpecGrammar(RouterKinds.all ++ BaselineKinds.all)
  private val all = "hash,kip,scan,readj,redist,mixed"

  private def idsAt(target: Int): Seq[Int] =
    (0 until 100).filter(id => Hashing.bucket(Hashing.ofId(id.toLong), 2) == target)

  // Hashing puts a and c on target 0 of 2, and b on 1.
  private val (a, c, b) = (idsAt(0).head, idsAt(0)(1), idsAt(1).head)
  private val batch = Array.fill(4)(a) ++ Array.fill(3)(b) ++ Array.fill(2)(c)

  private def run(
      router: String,
      options: MigrationOptions,
      batches: Array[Int]*): MigrationResult =
    MigrationSimulation.run(batches.toArray, grammar.parse(router), options)

  private def assertNear(actual: Double, expected: Double): Unit = {
    assert(math.abs(actual - expected) < 1e-9)
    ()
  }

  test("three equal batches: hashing routes the first, c moves once, then nothing does") {
    val result = run("kip(lambda=2)", MigrationOptions(2), batch, batch, batch)
    // Loads 6 and 3 at first; c, 2 of 9 rows of state, moves: 4 and 5.
    assertNear(result.imbalanceOfBatch(0), 1.5 / 4.5)
    assertNear(result.imbalance, 0.5 / 4.5)
    assertNear(result.maxOverAverage, 5 / 4.5)
    assertNear(result.maxOverBound, 5 / 4.5)
    assertNear(result.migrationFirst, 2.0 / 9)
    assertNear(result.migrationSteady, 0)
    assert(result.updates == 2)
  }

  test("state is what the last batches of the window brought") {
    val options = MigrationOptions(2, stateWindow = 2)
    val early = Array(c, c)
    assertNear(run("kip", options, early, batch, batch).migrationSteady, 4.0 / 11)
    assertNear(
      run("kip", options.copy(stateWindow = 1), early, batch, batch).migrationSteady,
      2.0 / 9)
    assertNear(run("kip", options, early, early, batch, batch).migrationSteady, (0 + 4.0 / 11) / 2)
  }

  test("a table that does not pay is not adopted unless updates are forced") {
    val dear = RepartitionPolicy.default.copy(migrationCost = 1000)
    val options = MigrationOptions(2, forceUpdate = false, policy = dear)
    val result = run("kip", options, batch, batch, batch)
    assert(result.updates == 0 && result.migrationFirst == 0)
    assert(
      run(
        "kip",
        options.copy(policy = RepartitionPolicy.default),
        batch,
        batch,
        batch).updates == 1)
  }

  test("hashing never moves anything, and equal options give equal figures for all routers") {
    val batches = Array.tabulate(4)(i => Array.tabulate(2000)(j => (j * (i + 3)) % (1 + j % 97)))
    grammar.parseList(all).foreach { spec =>
      val options = MigrationOptions(5, rounds = 3, lambda = Some(3))
      val results =
        Seq.fill(2)(MigrationSimulation.run(batches, spec, options).copy(updateMillis = 0))
      assert(results(0) == results(1))
      assert(results(0).imbalanceOfBatch.size == 4 && results(0).migrationOfUpdate.size == 3)
      assert(spec.name != "hash" || results(0).migrationOfUpdate.forall(_ == 0))
    }
  }

  test("an empty batch and a stream of one batch are measured, not refused") {
    grammar.parseList(all).foreach { spec =>
      val options = MigrationOptions(3)
      val one = MigrationSimulation.run(Array(batch), spec, options)
      assert(one.migrationFirst == 0 && one.imbalance > 0, spec)
      assert(MigrationSimulation.run(Array(Array.emptyIntArray, batch), spec, options).batches == 2)
    }
  }

  test("a router that does not repartition is refused by name") {
    val error = intercept[SpecException](run("shuffle", MigrationOptions(2), batch))
    assert(error.getMessage.contains("'shuffle'") && error.getMessage.contains("readj"))
    assert(!MigrationSimulation.supports(RouterSpec.parse("shuffle")))
    grammar.parseList(all).foreach(spec => assert(MigrationSimulation.supports(spec)))
  }

  // Keys of weight 6 and 3 on target 0 of 2, one of weight 1 on target 1.
  private val keys = Array(a, c, b).map(id => Hashing.ofId(id.toLong))
  private val histogram = new KeyHistogram(keys, Array(6.0, 3.0, 1.0), 10)

  Seq("scan", "redist", "readj", "readj(stop=utility)", "readj(compute=quadratic)", "mixed")
    .foreach { router =>
      test(s"$router moves the key of weight 3, and no other, to the emptier target") {
        val spec = grammar.parse(router)
        val method = spec.kind.asInstanceOf[BaselineKind].repartitioner(spec)
        val table = method.solve(histogram, RoutingTable.plain(2, 1))
        assert(keys.map(GedikMethod.targetOf(table, _)).toSeq == Seq(0, 1, 1))
      }
    }

  test("readj stops at the constraint if that is what it is told") {
    val loose = new Readj(2, 10, false, ReadjStop.Constraint)
    assert(GedikMethod.targetOf(loose.solve(histogram, RoutingTable.plain(2, 1)), keys(1)) == 0)
  }

  test("mixed never has more explicit routes than its table holds") {
    val many = Array.tabulate(400)(i => Hashing.ofId(i.toLong))
    val weights = Array.tabulate(400)(i => 1000.0 / (i + 1))
    val input = new KeyHistogram(many, weights, weights.sum)
    Seq(0.5, 1.0, 2.0).foreach { lambda =>
      val method = new Mixed(lambda, None)
      val once = method.solve(input, RoutingTable.plain(8, 1))
      val again = method.solve(input, once)
      Seq(once, again).foreach(t => assert(t.heavyKeys.length <= math.ceil(8 * lambda)))
    }
  }
}

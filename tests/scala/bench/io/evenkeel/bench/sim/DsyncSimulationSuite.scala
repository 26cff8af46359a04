// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.trace.Traces
import io.evenkeel.core.spec.RouterSpec

class DsyncSimulationSuite extends AnyFunSuite {

  test(
    "DSYNC goes 20, 10, 20, 40, 10 as replies get 2 and 4 times slower and quick again (000 Fig. 14b)") {
    val feed = SourceFeed(Seq(Traces.load("zipf:1.5:1000", 160000, 1)), 2, SourceSplit.Shuffle)
    val spec = RouterSpec.parse("dalton(statsWindow=2000)")
    val rounds = new DsyncSimulation(spec, 8, feed, 2000).run(Seq(600, 1200, 2400, 600))
    val changes = rounds.map(_.dsync).foldLeft(Vector.empty[Long]) { (seen, d) =>
      if (seen.lastOption.contains(d)) seen else seen :+ d
    }
    assert(changes == Vector(2000L, 1000L, 2000L, 4000L, 2000L, 1000L))
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.spec.RouterSpec

/**
 * What every router owes its caller. A suite mixes this in, calls `routerLaws("spec text")` for each form
 * it wants checked, and adds the laws of its own algorithm.
 */
trait RouterLaws extends ScalaCheckPropertyChecks { this: AnyFunSuite =>

  /** Rows of one run: few keys with skewed shares, so that heavy paths are taken; weights mostly 1. */
  private val rows: Gen[Vector[(Long, Long)]] = for {
    keys <- Gen.choose(1, 200)
    count <- Gen.choose(0, 2000)
    seed <- Gen.long
  } yield {
    val random = new SplitMix64(seed)
    Vector.fill(count) {
      val rank = math.min(keys - 1, (keys * math.pow(random.nextDouble(), 3)).toInt)
      val weight = if (random.nextInt(10) == 0) 1L + random.nextInt(20) else 1L
      (Hashing.ofId(rank.toLong), weight)
    }
  }

  private val contexts: Gen[RouterContext] = for {
    targets <- Gen.oneOf(1, 2, 3, 7, 16, 64, 65, 130)
    slides <- Gen.choose(1, 6)
    sources <- Gen.choose(1, 3)
    source <- Gen.choose(0, sources - 1)
  } yield RouterContext(targets, slides, source, sources)

  private val slideRows: Gen[Int] = Gen.choose(20, 400)

  def routerLaws(spec: String): Unit = {
    def fresh(context: RouterContext): Router = Routers.create(spec, context)

    test(s"$spec: every target is in range") {
      forAll(rows, contexts, slideRows) { (input, context, slide) =>
        drive(fresh(context), input, slide).foreach { t =>
          assert(t >= 0 && t < context.targets)
        }
      }
    }

    test(s"$spec: same input, same routes") {
      forAll(rows, contexts, slideRows) { (input, context, slide) =>
        assert(drive(fresh(context), input, slide) == drive(fresh(context), input, slide))
      }
    }

    test(s"$spec: a restored router routes on as the original does") {
      forAll(rows, contexts, slideRows, Gen.choose(0.0, 1.0)) { (input, context, slide, share) =>
        val cut = (input.size * share).toInt
        val original = fresh(context)
        drive(original, input.take(cut), slide)
        val bytes = original.snapshot()
        val restored = fresh(context)
        // Restoring must replace what the router learned before, not add to it.
        drive(restored, input.drop(cut).take(50), slide)
        restored.restore(bytes)
        assert(restored.snapshot().toSeq == bytes.toSeq, "snapshot of a restored router differs")
        val rest = input.drop(cut)
        assert(drive(restored, rest, slide) == drive(original, rest, slide))
      }
    }

    val parsed = RouterSpec.parse(spec)
    if (parsed.kind.startsAtHome(parsed))
      test(s"$spec: keys that come once go where HASH sends them") {
        forAll(Gen.choose(0, 3000), contexts, slideRows) { (count, context, slide) =>
          val input = Seq.tabulate(count)(i => (Hashing.ofId(i.toLong), 1L))
          val homes = input.map { case (key, _) => Hashing.bucket(key, context.targets) }
          assert(drive(fresh(context), input, slide) == homes)
        }
      }

    test(s"$spec: damaged, foreign and newer snapshots are refused") {
      val context = RouterContext(8, 2)
      val router = fresh(context)
      drive(router, Vector.tabulate(500)(i => (Hashing.ofId((i % 7).toLong), 1L)), 100)
      val bytes = router.snapshot()
      forAll(Gen.choose(0, bytes.length - 1)) { at =>
        val damaged = bytes.clone()
        damaged(at) = (damaged(at) ^ 0x40).toByte
        assertThrows[SnapshotException](fresh(context).restore(damaged))
      }
      assertThrows[SnapshotException](fresh(context).restore(Snapshot.write("another", 1)(_ => ())))
      assertThrows[SnapshotException](fresh(context).restore(bytes.take(bytes.length - 1)))
    }
  }

  /** Routes all rows, telling slide and window ends; a planning router sees each window's rows first. */
  protected def drive(router: Router, input: Seq[(Long, Long)], slide: Int): Seq[Int] =
    input
      .grouped(slide * router.context.slides)
      .flatMap { window =>
        router match {
          case planner: PlanningRouter =>
            window.take(planner.lookahead).foreach { case (k, w) => planner.observe(k, w) }
            planner.plan()
          case _ =>
        }
        val routed = window
          .grouped(slide)
          .flatMap { rows =>
            val out = rows.map { case (k, w) => router.route(k, w) }
            if (rows.size == slide) router.endSlide()
            out
          }
          .toVector
        if (window.size == slide * router.context.slides) router.endWindow()
        routed
      }
      .toVector
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.SplitMix64
import io.evenkeel.core.load.SlidingLoads

class SlidingWindowSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val shapes = for {
    n <- Gen.oneOf(1, 5, 64, 65, 130)
    blocks <- Gen.choose(1, 5)
    seed <- Gen.long
  } yield (n, blocks, seed)

  test("fragments are the targets touched in the last slides, counted slide by slide") {
    forAll(shapes) { case (n, blocks, seed) =>
      val random = new SplitMix64(seed)
      val window = new FragmentWindow(n, blocks)
      window.ensureSlots(3)
      var slides = List(Set.empty[(Int, Int)])
      (0 until 400).foreach { _ =>
        random.nextInt(20) match {
          case 0 =>
            window.endSlide()
            slides = (Set.empty[(Int, Int)] :: slides).take(blocks)
          case 1 if random.nextInt(4) == 0 =>
            val slot = random.nextInt(3)
            window.drop(slot)
            slides = slides.map(_.filterNot(_._1 == slot))
          case _ =>
            val (slot, target) = (random.nextInt(3), random.nextInt(n))
            window.touch(slot, target)
            slides = (slides.head + (slot -> target)) :: slides.tail
        }
        (0 until 3).foreach { slot =>
          val held = slides.flatten.collect { case (`slot`, t) => t }.toSet
          assert(window.count(slot) == held.size)
          assert((0 until window.count(slot)).map(window.target(slot, _)) == held.toSeq.sorted)
          assert((0 until n).forall(t => window.holds(slot, t) == held(t)))
        }
      }
    }
  }

  test("fragments survive their bytes") {
    forAll(shapes) { case (n, blocks, seed) =>
      val random = new SplitMix64(seed)
      val window = new FragmentWindow(n, blocks)
      window.ensureSlots(3)
      val copy = new FragmentWindow(n, blocks)
      copy.ensureSlots(8)
      (0 until 100).foreach { _ =>
        window.touch(random.nextInt(3), random.nextInt(n))
        if (random.nextInt(10) == 0) window.endSlide()
      }
      copy.touch(2, 0)
      copy.read(new DataInputStream(new ByteArrayInputStream(bytes(window.write))))
      assert(bytes(copy.write).toSeq == bytes(window.write).toSeq)
      (0 to blocks).foreach { _ =>
        (0 until 3).foreach(slot => assert(copy.count(slot) == window.count(slot)))
        copy.endSlide()
        window.endSlide()
      }
    }
  }

  test("loads are the sums over the last slides plus what others reported last") {
    forAll(shapes) { case (n, blocks, seed) =>
      val random = new SplitMix64(seed)
      val window = new SlidingLoads(n, blocks)
      var slides = List(Array.fill(n)(0L))
      var others = Array.fill(n)(0L)
      (0 until 200).foreach { _ =>
        random.nextInt(20) match {
          case 0 =>
            window.endSlide()
            slides = (Array.fill(n)(0L) :: slides).take(blocks)
          case 1 =>
            others = Array.fill(n)(random.nextInt(50).toLong)
            window.setBackground(others)
          case _ =>
            val (target, weight) = (random.nextInt(n), 1L + random.nextInt(9))
            window.add(target, weight)
            slides.head(target) += weight
        }
        val own = Array.tabulate(n)(i => slides.map(_(i)).sum)
        assert(window.own.toSeq == own.toSeq)
        (0 until n).foreach(i => assert(window.load(i) == own(i) + others(i)))
        assert(window.total == own.sum + others.sum)
      }
    }
  }

  private def bytes(write: DataOutputStream => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream()
    write(new DataOutputStream(out))
    out.toByteArray
  }
}

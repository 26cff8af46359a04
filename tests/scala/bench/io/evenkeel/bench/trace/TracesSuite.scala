// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.trace

import java.nio.file.Files
import java.nio.{ByteBuffer, ByteOrder}
import java.util.zip.GZIPOutputStream

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.UsageException
import io.evenkeel.core.SplitMix64

/** The expected ids and sums come from the reference definition, run in another language. */
class TracesSuite extends AnyFunSuite {

  private def weightedSum(ids: Array[Int]): Long =
    ids.indices.map(i => ids(i).toLong * (i % 97 + 1)).sum

  test("zipf, uniform, drifting, log-normal and stand-in traces equal the reference row by row") {
    Seq(
      (Traces.load("zipf:1.5:100000", 20000, 11), Seq(89588, 89588, 36459), 61839668348L),
      (Traces.load("uniform:100000", 20000, 12), Seq(46538, 390, 53331), 48986571286L),
      (Traces.load("drift:1.5:100000:20000", 50000, 13), Seq(96722, 68869, 77351), 146092045122L),
      (Traces.load("drift:1.2:1000:1000", 50000, 13), Seq(707, 668, 405), 1204759300L),
      (Traces.load("ln2", 20000, 32), Seq(1577, 267, 3739), 1800122037L),
      (Traces.load("cashtags", 20000, 26), Seq(1553, 2214, 1009), 1447940336L)).foreach {
      case (ids, first, sum) =>
        assert(ids.take(3).toSeq == first)
        assert(weightedSum(ids) == sum)
    }
  }

  test("log-normal traces have the top shares of 003 Table I") {
    def share(weights: Array[Double]): Double = weights(0) / weights.sum
    assert(math.abs(share(KeyWeights.logNormal(1 << 19, 1.789, 2.366)) - 0.1471) < 1e-4)
    assert(math.abs(share(KeyWeights.logNormal(4096, 2.245, 1.133)) - 0.0701) < 1e-4)
  }

  test("alternate takes rows in turn, each trace under a seed of its own") {
    val mixed = Traces.load("alternate:uniform:50,zipf:1.5:40", 7, 3)
    val (even, odd) = (Traces.load("uniform:50", 4, 3), Traces.load("zipf:1.5:40", 3, 4))
    assert(mixed.toSeq == Seq(even(0), odd(0), even(1), odd(1), even(2), odd(2), even(3)))
  }

  test("phases run one distribution after the other") {
    val shifting = Traces.load("phases:3:uniform:50,zipf:1.5:40", 8, 3)
    val (a, b) = (Traces.load("uniform:50", 8, 3), Traces.load("zipf:1.5:40", 8, 4))
    assert(shifting.toSeq == Seq(a(0), a(1), a(2), b(3), b(4), b(5), a(6), a(7)))
  }

  test("binary, text and compressed text files are read, at most the rows asked for") {
    val folder = Files.createTempDirectory("traces")
    val binary =
      ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putInt(5).putInt(300).putInt(5)
    Files.write(folder.resolve("a.i32"), binary.array())
    assert(Traces.load(folder.resolve("a.i32").toString, 100, 0).toSeq == Seq(5, 300, 5))
    assert(Traces.load(folder.resolve("a.i32").toString, 2, 0).toSeq == Seq(5, 300))
    Files.writeString(folder.resolve("b.txt"), "x\ny\n\nx\nz\n")
    assert(Traces.load(folder.resolve("b.txt").toString, 100, 0).toSeq == Seq(0, 1, 0, 2))
    val gz = new GZIPOutputStream(Files.newOutputStream(folder.resolve("c.txt.gz")))
    gz.write("p\nq\np\n".getBytes)
    gz.close()
    assert(Traces.load(folder.resolve("c.txt.gz").toString, 100, 0).toSeq == Seq(0, 1, 0))
  }

  test("a trace that cannot be had is explained in one sentence") {
    def message(text: String): String =
      intercept[UsageException](Traces.load(text, 10, 0)).getMessage
    val empty = Files.createTempFile("empty", ".txt").toString
    assert(message("nowhere.i32") == "There is no trace file 'nowhere.i32'.")
    assert(message(empty) == s"Trace file '$empty' is empty.")
    assert(message("zpif:1.5").contains("Did you mean 'zipf'?"))
    assert(message("zipf:steep").contains("write zipf:EXPONENT[:KEYS]"))
    assert(message("zipf:1.5:0").contains("not well formed"))
    assert(message("elections:3").contains("not well formed"))
  }

  test("the quick sum of a Zipf's weights equals the slow one, smallest first") {
    for (keys <- Seq(1, 2, 999, 1000, 1001, 200000); s <- Seq(0.0, 0.5, 1.0, 1.5, 3.0)) {
      val slow = KeyWeights.zipf(keys, s).reverse.sum
      assert(math.abs(KeyWeights.harmonic(keys, s) / slow - 1) < 1e-12, s"$keys keys, exponent $s")
    }
  }

  test("ids are permuted in the order of their hashes, whatever the size") {
    for (size <- Seq(1, 2, 1000, 300000)) {
      val ids = Generators.permutation(3, size)
      val hashes = ids.map(id => SplitMix64.at(3 ^ 0x5eedL, id.toLong) ^ Long.MinValue)
      assert(hashes.indices.tail.forall(i => hashes(i - 1) < hashes(i)), s"$size ids")
    }
  }

  test("a sequence counts up and starts again") {
    assert(Traces.load("sequence:3", 7, 1).toSeq == Seq(0, 1, 2, 0, 1, 2, 0))
  }
}

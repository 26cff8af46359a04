// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.ledger

import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.evenkeel.EvenkeelStateException
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.Snapshot
import io.evenkeel.core.table.RoutingTable

class RoutingLedgerSuite extends AnyFunSuite {

  test("an epoch that was written is read back equal") {
    withLedger { (ledger, _) =>
      val written = epoch(3).copy(heavyKeys =
        Seq(HeavyKey(-5L, "küche", 0.25), HeavyKey(7L, "x" * 100000, 0.1)))
      ledger.write(written)
      assert(ledger.at(3).contains(written))
      assert(ledger.inForce(4).contains(written))
    }
  }

  test("a batch finds its state by the newest epoch before it, not by its own") {
    withLedger { (ledger, _) =>
      Seq(3L, 8L).foreach(b => ledger.write(epoch(b)))
      assert(ledger.inForce(3).isEmpty)
      assert((4L to 8L).forall(b => ledger.inForce(b).exists(_.batch == 3)))
      assert(ledger.inForce(9).exists(_.batch == 8))
      assert(ledger.at(4).isEmpty)
      assert(ledger.at(8).exists(_.batch == 8))
      assert(
        Seq(2L, 3L, 5L, 8L, 9L).map(ledger.around(_).map(_.batch)) ==
          Seq(Nil, Seq(3), Seq(3), Seq(3, 8), Seq(8)))
    }
  }

  test("purging keeps the epoch that a replay of the oldest kept batch finds its state by") {
    withLedger { (ledger, folder) =>
      Seq(3L, 8L, 10L, 12L).foreach { b =>
        ledger.write(epoch(b))
        ledger.writeMoved(b, MovedState(100, 10, 5))
      }
      ledger.purgeBefore(10)
      assert(ledger.epochs == Seq(8L, 10L, 12L))
      assert(ledger.inForce(10).exists(_.batch == 8))
      assert(!Files.exists(folder.resolve("3.moved")))
      ledger.purgeBefore(100)
      assert(ledger.epochs == Seq(12L))
    }
  }

  test("a second epoch of one batch is refused") {
    withLedger { (ledger, _) =>
      ledger.write(epoch(3))
      fails("EVENKEEL_ROUTING_LOG_CONCURRENT")(ledger.write(epoch(3)))
      assert(ledger.at(3).contains(epoch(3)))
    }
  }

  test("any changed byte of an epoch is noticed") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      val file = folder.resolve("3")
      val good = Files.readAllBytes(file)
      good.indices.foreach { i =>
        val bad = good.clone()
        bad(i) = (bad(i) ^ 1).toByte
        Files.write(file, bad)
        fails("EVENKEEL_ROUTING_LOG_DAMAGED")(ledger.inForce(4))
      }
      good.indices.foreach { length =>
        Files.write(file, good.take(length))
        fails("EVENKEEL_ROUTING_LOG_DAMAGED")(ledger.inForce(4))
      }
    }
  }

  test("an epoch of a newer release is refused as such") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      val newer = Snapshot.write("routing-epoch", RoutingEpoch.Version + 1)(_.writeLong(3))
      Files.write(folder.resolve("3"), newer)
      fails("EVENKEEL_ROUTING_LOG_NEWER")(ledger.inForce(4))
    }
  }

  test("a file under the name of another batch is refused") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      Files.copy(folder.resolve("3"), folder.resolve("5"))
      fails("EVENKEEL_ROUTING_LOG_DAMAGED")(ledger.inForce(6))
    }
  }

  test("a lost newest epoch is noticed instead of the one before it being taken") {
    withLedger { (ledger, folder) =>
      Seq(3L, 8L).foreach(b => ledger.write(epoch(b)))
      Files.delete(folder.resolve("8"))
      fails("EVENKEEL_ROUTING_LOG_INCOMPLETE")(ledger.inForce(9))
    }
  }

  test("the loss of the whole log is noticed, whatever is left of its folders") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      Files.walk(folder).sorted(Comparator.reverseOrder()).forEach(Files.delete(_))
      fails("EVENKEEL_ROUTING_LOG_INCOMPLETE")(ledger.inForce(4))
      Files.delete(folder.getParent)
      fails("EVENKEEL_ROUTING_LOG_INCOMPLETE")(ledger.inForce(4))
      assert(RoutingLedger.operators(root(folder), new Configuration()) == Seq(1L))
    }
  }

  test(
    "an epoch that was not marked as the newest before a crash is in force, and a replay marks it") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      val before = Files.readAllBytes(mark(folder))
      ledger.write(epoch(8))
      Files.write(mark(folder), before)
      assert(ledger.at(8).contains(epoch(8)))
      ledger.markNewest()
      Files.delete(folder.resolve("8"))
      fails("EVENKEEL_ROUTING_LOG_INCOMPLETE")(ledger.inForce(9))
    }
  }

  test("whoever looks on while a query adopts table after table finds a whole log") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      val conf = new Configuration()
      conf.set(
        SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
        classOf[BusyFiles].getName)
      val onlooker = new RoutingLedger(root(folder), 1, conf)
      for (moment <- Seq[BusyFiles.Moment](BusyFiles.Listed, BusyFiles.Read)) {
        // Two at once, so that those before are purged as well.
        BusyFiles.at(moment) {
          val last = ledger.epochs.last
          Seq(last + 2, last + 4).foreach(b => ledger.write(epoch(b)))
          ledger.purgeBefore(last + 4)
        }
        assert(onlooker.present.nonEmpty, moment)
        assert(BusyFiles.isIdle, moment)
      }
      Files.delete(folder.resolve(ledger.epochs.last.toString))
      fails("EVENKEEL_ROUTING_LOG_INCOMPLETE")(onlooker.present)
    }
  }

  test("an epoch of the release before is read: it does not tell its windows") {
    withLedger { (ledger, folder) =>
      val old = epoch(3).copy(windows = None)
      ledger.write(old)
      // Without the number of windows at the end, which version 2 has added.
      val fields = Snapshot.read("routing-epoch", 2, old.toBytes)((_, in) => in.readAllBytes())
      val first = Snapshot.write("routing-epoch", 1)(_.write(fields, 0, fields.length - 4))
      Files.write(folder.resolve("3"), first)
      assert(ledger.at(3).contains(old))
    }
  }

  test("figures of a migration that cannot be read are as good as none") {
    withLedger { (ledger, folder) =>
      ledger.write(epoch(3))
      ledger.writeMoved(3, MovedState(100, 10, 5))
      assert(ledger.moved(3).contains(MovedState(100, 10, 5)))
      Files.write(folder.resolve("3.moved"), Array[Byte](1, 2))
      assert(ledger.moved(3).isEmpty)
      assert(ledger.epochs == Seq(3L))
    }
  }

  test("figures that come late do not bring back an epoch that was removed") {
    withLedger { (ledger, folder) =>
      Seq(3L, 8L, 10L).foreach(b => ledger.write(epoch(b)))
      ledger.purgeBefore(10)
      ledger.writeMoved(3, MovedState(100, 10, 5))
      assert(!Files.exists(folder.resolve("3.moved")))
      ledger.clear()
      ledger.writeMoved(10, MovedState(100, 10, 5))
      assert(!Files.exists(folder))
    }
  }

  test("of several migrations the last counts most") {
    val all = Seq(MovedState(800, 80, 8), MovedState(400, 40, 4), MovedState(10, 1, 1))
    assert(all.reduceLeft((earlier, last) => last.after(earlier)) == MovedState(410, 41, 5))
  }

  test("a table that splits keys is no epoch of a state") {
    val splitting = RoutingTable(Array(0, 1), 2, Seq(1L -> Array(0, 1)))
    assertThrows[IllegalArgumentException](epoch(1).copy(table = splitting))
  }

  test("the operators of a checkpoint are those with a log") {
    val checkpoint = Files.createTempDirectory("ledger")
    val (root, conf) = (new Path(checkpoint.toUri), new Configuration())
    assert(RoutingLedger.operators(root, conf).isEmpty)
    Seq(2L, 0L).foreach(o => new RoutingLedger(root, o, conf).write(epoch(1).copy(operator = o)))
    assert(RoutingLedger.operators(root, conf) == Seq(0L, 2L))
  }

  private def epoch(batch: Long): RoutingEpoch =
    RoutingEpoch(
      batch,
      operator = 1,
      RoutingTable.plain(4, 2).withHosts(Array.tabulate(8)(h => ((h + batch) % 4).toInt)),
      Seq(HeavyKey(42L, "a", 0.5)),
      "hosts turn",
      movedShare = 0.25,
      windows = Some(Set(0, 2)))

  private def root(folder: LocalPath): Path =
    new Path(folder.getParent.getParent.getParent.toUri)

  private def mark(folder: LocalPath): LocalPath =
    folder.getParent.getParent.resolveSibling("state/1/_evenkeel_latest")

  private def withLedger[T](body: (RoutingLedger, LocalPath) => T): T = {
    val checkpoint = Files.createTempDirectory("ledger")
    val ledger = new RoutingLedger(new Path(checkpoint.toUri), 1, new Configuration())
    body(ledger, checkpoint.resolve("evenkeel/routing/1"))
  }

  private def fails(condition: String)(body: => Any): Assertion =
    assert(intercept[EvenkeelStateException](body).getCondition == condition)
}

/** Files of a checkpoint to which something happens once, right after they were listed or one was opened. */
final class BusyFiles(root: Path, hadoopConf: Configuration)
    extends FileContextBasedCheckpointFileManager(root, hadoopConf) {

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val found = super.list(path, filter)
    BusyFiles.reached(BusyFiles.Listed)
    found
  }

  override def open(path: Path): FSDataInputStream = {
    val opened = super.open(path)
    BusyFiles.reached(BusyFiles.Read)
    opened
  }
}

object BusyFiles {
  sealed trait Moment
  case object Listed extends Moment
  case object Read extends Moment

  private var event: Option[(Moment, () => Unit)] = None

  def at(moment: Moment)(body: => Unit): Unit = event = Some(moment -> (() => body))

  def isIdle: Boolean = event.isEmpty

  private def reached(moment: Moment): Unit =
    event.filter(_._1 == moment).foreach { case (_, run) =>
      event = None
      run()
    }
}

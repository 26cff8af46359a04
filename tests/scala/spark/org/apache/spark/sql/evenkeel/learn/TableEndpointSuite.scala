// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, Future}

import org.apache.spark.rpc.RpcEndpointRef
import org.apache.spark.sql.evenkeel.SparkSuite
import org.scalatest.Assertion
import org.scalatest.concurrent.Eventually

import io.evenkeel.core.table.RoutingTable

class TableEndpointSuite extends SparkSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(30.seconds, 50.millis)

  private val recipe = TableRecipe("keel_table", targets = 4, defaultSample = 100)

  private def seen(rows: Int) = {
    val sample = recipe.sample()
    (0 until rows).foreach(_ => sample.add(1L << 50, 1L))
    recipe.summary(sample)
  }

  private def withEndpoint(slots: Int)(
      body: (TableEndpoint, RpcEndpointRef) => Assertion): Assertion = {
    val rpc = spark.sparkContext.env.rpcEnv
    val endpoint = new TableEndpoint(rpc, () => slots)
    val ref = rpc.setupEndpoint(s"test-${System.nanoTime()}", endpoint)
    try body(endpoint, ref)
    finally rpc.stop(ref)
  }

  private def table(tasks: Int, deadlineMs: Long): SharedTable =
    new SharedTable(recipe, tasks, share = 1, deadlineMs)

  private def ask(ref: RpcEndpointRef, message: TableMessage): Future[Array[Byte]] =
    ref.ask[Array[Byte]](TableMessage.toBytes(message))

  private def get(reply: Future[Array[Byte]]): Array[Byte] = Await.result(reply, 30.seconds)

  private val Never = 600000L

  test("a task waits until enough have reported; whoever comes later does not") {
    withEndpoint(slots = 4) { (endpoint, ref) =>
      val shared = table(tasks = 2, Never)
      endpoint.register(shared)
      assert(get(ask(ref, TableMessage.Peek(shared.id))).isEmpty)
      val first = ask(ref, TableMessage.Report(shared.id, 0, waits = true, seen(50)))
      assert(get(ask(ref, TableMessage.Peek(shared.id))).isEmpty && !first.isCompleted)
      assert(get(ask(ref, TableMessage.Report(shared.id, 1, waits = false, seen(0)))).nonEmpty)
      assert(RoutingTable.fromBytes(get(first)) == shared.table.get)
      assert(get(ask(ref, TableMessage.Peek(shared.id))).sameElements(get(first)))
    }
  }

  test("the deadline counts from the first task that waits") {
    withEndpoint(slots = 4) { (endpoint, ref) =>
      val shared = table(tasks = 4, deadlineMs = 1)
      endpoint.register(shared)
      get(ask(ref, TableMessage.Report(shared.id, 0, waits = false, seen(0))))
      assert(shared.table.isEmpty)
      assert(get(ask(ref, TableMessage.Report(shared.id, 1, waits = true, seen(9)))).nonEmpty)
      assert(shared.frozen.contains((FreezeCause.Deadline, 2)))
    }
  }

  test("two exchanges that hold each other's slots do not wait for the deadline") {
    withEndpoint(slots = 2) { (endpoint, ref) =>
      val (a, b) = (table(tasks = 4, Never), table(tasks = 4, Never))
      Seq(a, b).foreach(endpoint.register)
      val first = ask(ref, TableMessage.Report(a.id, 0, waits = true, seen(50)))
      val second = ask(ref, TableMessage.Report(b.id, 0, waits = true, seen(50)))
      Seq(first, second).foreach(get)
      assert(Seq(a, b).flatMap(_.frozen) == Seq.fill(2)((FreezeCause.Stalled, 1)))
    }
  }

  test("an unknown table is an error for the task that asks") {
    withEndpoint(slots = 1) { (_, ref) =>
      val e = intercept[Exception](get(ask(ref, TableMessage.Peek("gone"))))
      assert(e.getMessage.contains("does not know the routing table gone"))
    }
  }

  test("a table is known for as long as somebody refers to it") {
    withEndpoint(slots = 1) { (endpoint, ref) =>
      val kept = table(tasks = 1, Never)
      endpoint.register(kept)
      (0 until 100).foreach(_ => endpoint.register(table(tasks = 1, Never)))
      eventually {
        System.gc()
        endpoint.register(kept)
        assert(endpoint.size == 1)
      }
      assert(get(ask(ref, TableMessage.Report(kept.id, 0, waits = true, seen(5)))).nonEmpty)
    }
  }
}

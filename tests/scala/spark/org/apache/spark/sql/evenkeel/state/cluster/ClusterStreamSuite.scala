// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.cluster

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.evenkeel.cluster.LocalCluster
import org.apache.spark.sql.evenkeel.state.migrate.{
  Backend,
  FailureCases,
  MigrationMetrics,
  Ran,
  StreamCase,
  StreamSuite
}
import org.apache.spark.sql.evenkeel.state.steps.MigrationSteps
import org.apache.spark.sql.streaming.StreamingQuery

/** Streams whose state moves between two executors, which are processes of their own. */
private[cluster] abstract class ClusterStreamSuite extends StreamSuite with FailureCases {

  /** Whether the executors have hosts of their own, under a standalone master with two workers. */
  protected def hosts: Boolean = false

  protected lazy val cluster: LocalCluster = new LocalCluster(hosts, settings.toSeq: _*)

  override protected def open(): SparkSession = cluster.session

  override protected def settings: Map[String, String] =
    super.settings + (MigrationSteps.ObserverKey -> classOf[GateAt].getName)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.addSparkListener(holders)
  }

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally cluster.stop()

  // More tasks than run at once: some are still to start when others wait at a gate.
  override protected val partitions = 5

  protected val holders: StateHolders = new StateHolders

  /** The input that meets a failure. Every batch from here on moves state. */
  protected val disturbed = 3
  private val adoptions = disturbed.toLong to 20L

  /** Runs all of the input; `disturb` adds that of the batch in question and does what it has to. */
  protected def ran(query: StreamCase, backend: Backend, adopt: Seq[Long] = adoptions)(
      disturb: (StreamingQuery, () => Unit) => Unit): Ran = {
    cluster.awaitWhole()
    holders.clear()
    val stream = new Stream(query, moving(backend, adopt))
    val running = stream.start()
    try {
      input.zipWithIndex.foreach { case (rows, i) =>
        if (i == disturbed) disturb(running, () => stream.add(rows)) else stream.add(rows)
        running.processAllAvailable()
      }
      stream.finish(running)
    } finally running.stop()
    stream.ran
  }

  /** Holds tasks at a gate, does `inject` to the executors and stages that wait there, and lets them go. */
  protected def held(running: StreamingQuery, gate: String, passes: Int, add: () => Unit)(
      inject: Seq[(String, Int)] => Unit): Unit = {
    cluster.gates.close(gate, passes)
    try {
      add()
      cluster.await(
        running.exception.isDefined || cluster.gates.waiting(gate).nonEmpty,
        s"a task waits at gate $gate")
      assert(running.exception.isEmpty)
      inject(cluster.gates.waiting(gate))
    } finally cluster.gates.open(gate)
  }

  protected def check(query: StreamCase, backend: Backend, ours: Ran): Unit = {
    assertSame(ours, plain(query))
    assert(ours.custom(MigrationMetrics.RowsMoved).count(_ > 0) >= 3, "too few batches moved state")
    withConf(backend.settings.toSeq: _*)(assertPlaced(query, ours))
  }
}

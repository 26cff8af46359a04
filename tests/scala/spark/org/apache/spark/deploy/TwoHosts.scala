// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.deploy

import java.nio.file.Path

import org.apache.spark.SparkConf
import org.apache.spark.deploy.master.Master
import org.apache.spark.deploy.worker.Worker
import org.apache.spark.internal.config

/**
 * A cluster like `local-cluster[2,1,1024]` whose two workers have addresses of their own: Spark starts no
 * speculative copy on the host that runs the first one, so `local-cluster` never speculates.
 */
final class TwoHosts(work: Path) {
  private val conf = new SparkConf()
    .set(config.MASTER_REST_SERVER_ENABLED, false)
    .set(config.SHUFFLE_SERVICE_ENABLED, false)

  private val master = Master.startRpcEnvAndEndpoint(TwoHosts.Addresses.head, 0, 0, conf)._1

  val url: String = s"spark://${master.address.hostPort}"

  private val workers = TwoHosts.Addresses.zipWithIndex.map { case (address, i) =>
    val folder = work.resolve(s"worker$i").toString
    Worker.startRpcEnvAndEndpoint(address, 0, 0, 1, 1024, Array(url), folder, Some(i), conf)
  }

  def stop(): Unit = (workers :+ master).foreach { environment =>
    environment.shutdown()
    environment.awaitTermination()
  }
}

object TwoHosts {
  val Addresses: Seq[String] = Seq("127.0.0.1", "127.0.0.2")
}

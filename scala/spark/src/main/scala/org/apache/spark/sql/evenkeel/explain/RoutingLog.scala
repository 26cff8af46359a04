// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import scala.collection.mutable

import org.apache.spark.sql.evenkeel.exchange.RoutingSummary

/** One routed exchange that has run, and for whom if that was a client of Spark Connect. */
final case class RoutingReport(
    executionId: Option[Long],
    client: Option[ConnectClient],
    router: String,
    shape: String,
    keys: Seq[String],
    targets: Int,
    bytes: Long,
    summary: RoutingSummary)

/** The last routed exchanges of this application, for `evenkeel_report()`. Bounded. */
private[evenkeel] object RoutingLog {
  private val Kept = 200
  private val reports = mutable.ArrayDeque.empty[RoutingReport]

  def add(report: RoutingReport): Unit = synchronized {
    reports += report
    if (reports.size > Kept) reports.removeHead()
    ()
  }

  def all: Seq[RoutingReport] = synchronized(reports.toSeq)

  def clear(): Unit = synchronized(reports.clear())
}

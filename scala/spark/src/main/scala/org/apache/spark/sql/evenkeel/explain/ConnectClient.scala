// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.SparkContext

/** A user and session of Spark Connect, as the server marks all that it runs for them. */
final case class ConnectClient(mark: String)

object ConnectClient {

  // SparkConnect_OperationTag_User_<user>_Session_<session>_Operation_<operation>
  private val Tag = "(SparkConnect_OperationTag_User_.*_Session_.*)_Operation_.*".r

  /** For whom this thread works; none outside of a Connect server. Streams keep who started them. */
  def current: Option[ConnectClient] = SparkContext.getActive.flatMap {
    _.getJobTags().collectFirst { case Tag(mark) => ConnectClient(mark) }
  }
}

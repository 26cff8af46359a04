// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.internal.SQLConf

/**
 * One entry of a query's offset log as text, of which only the name of the state store provider is changed.
 *
 * {{{
 * v1
 * {"batchWatermarkMs":0,"batchTimestampMs":17,"conf":{"spark.sql.streaming.stateStore.providerClass":"org...", ...}}
 * {"logOffset":4}
 * }}}
 * Both versions that Spark 4.2 writes have this form; in version 2 an offset's line begins with its source's
 * name. Lines are split by hand, so that everything else stays as it is to the byte.
 */
private[checkpoint] final class OffsetFile private (
    val version: Int,
    metadata: ObjectNode,
    before: String,
    after: String) {

  def provider: Option[String] =
    Option(metadata.get("conf")).flatMap(c => Option(c.get(OffsetFile.Key))).map(_.asText)

  def withProvider(name: String): Array[Byte] = {
    val changed = metadata.deepCopy()
    changed.get("conf").asInstanceOf[ObjectNode].put(OffsetFile.Key, name)
    (before + OffsetFile.mapper.writeValueAsString(changed) + after).getBytes(UTF_8)
  }
}

private[checkpoint] object OffsetFile {
  private val Key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  private val mapper = new ObjectMapper()
  private val known = Set(1, 2)

  /** The entry, or what is wrong with it. */
  def parse(bytes: Array[Byte]): Either[String, OffsetFile] = {
    val text = new String(bytes, UTF_8)
    val firstEnd = text.indexOf('\n')
    val version = if (firstEnd < 0) None else versionOf(text.take(firstEnd))
    version match {
      case None => Left("its first line is no version")
      case Some(v) if !known(v) => Left(s"it has version $v, this release knows 1 and 2")
      case Some(v) =>
        val second = text.indexOf('\n', firstEnd + 1)
        val secondEnd = if (second < 0) text.length else second
        val line = text.slice(firstEnd + 1, secondEnd)
        metadataOf(line).map(new OffsetFile(v, _, text.take(firstEnd + 1), text.drop(secondEnd)))
    }
  }

  private def versionOf(line: String): Option[Int] =
    if (line.startsWith("v")) line.drop(1).trim.toIntOption else None

  private def metadataOf(line: String): Either[String, ObjectNode] =
    try
      mapper.readTree(line) match {
        case node: ObjectNode if node.get("conf").isInstanceOf[ObjectNode] => Right(node)
        case _ => Left("its second line has no configuration")
      }
    catch { case NonFatal(e) => Left(s"its second line is no JSON: ${e.getMessage}") }
}

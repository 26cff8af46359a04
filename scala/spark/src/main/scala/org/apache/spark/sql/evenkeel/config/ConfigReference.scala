// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.config

import org.apache.spark.internal.config.ConfigEntry

/** The page of all settings, made from their entries; a test compares it with the one in docs. */
object ConfigReference {

  private val areas: Seq[(String, Seq[ConfigEntry[_]])] = Seq(
    "All of Evenkeel" -> EvenkeelConf.all,
    "Routing by table" -> TableConf.all,
    "Sliding windows" -> PanesConf.all,
    "Streams that move their state" -> StreamingConf.all)

  def markdown: String = {
    val sections = areas.map { case (title, entries) =>
      val lines = entries.map(e => s"| `${e.key}` | ${default(e)} | ${e.doc} |")
      (Seq(s"## $title", "", "| setting | default | meaning |", "|---|---|---|") ++ lines)
        .mkString("\n")
    }
    val head = """# Settings
       |
       |Read when a query is planned, so `SET` and `spark.conf.set` work between queries. Written from the code by
       |`EVENKEEL_WRITE=1 tools/sbt "spark/testOnly *ConfigReferenceSuite"`; the Python aggregate's own settings are on
       |[its page](../aggregator.md).
       |
       |""".stripMargin
    // Not in the text above: taking the margin off would take the tables' first bar as well.
    head + sections.mkString("", "\n\n", "\n")
  }

  private def default(entry: ConfigEntry[_]): String =
    if (entry.defaultValue.isEmpty) "none" else s"`${entry.defaultValueString}`"
}

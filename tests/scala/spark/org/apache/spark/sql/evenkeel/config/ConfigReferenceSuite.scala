// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.config

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

class ConfigReferenceSuite extends AnyFunSuite {
  private val page = Path.of("docs/reference/configuration.md")

  test("the page of settings is what the code says") {
    if (sys.env.contains("EVENKEEL_WRITE")) Files.writeString(page, ConfigReference.markdown)
    assert(Files.readString(page) == ConfigReference.markdown)
  }

  test("every line of a table begins with its bar") {
    val lines = ConfigReference.markdown.linesIterator.filter(_.endsWith("|")).toSeq
    assert(lines.size > 20 && lines.forall(_.startsWith("|")))
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import java.nio.file.{Files, Paths}

import io.evenkeel.core.spec.{Param, RouterKind, RouterKinds}

/**
 * The reference page of all routers and their options, written from their declarations:
 * `tools/sbt "bench/runMain io.evenkeel.bench.RouterReference docs/reference/routers.md"`. A test fails
 * when the committed page is out of date.
 */
object RouterReference {

  def page: String =
    ("""|# Routers and their options
        |
        |A router is written `name` or `name(option=value, ...)`, the same on the command line, in logs and in
        |snapshots. Letter case and underscores in names do not matter.
        |
        |""".stripMargin + RouterKinds.all.map(section).mkString("\n")).stripTrailing + "\n"

  private def section(kind: RouterKind): String = {
    val head = s"## `${kind.name}`\n\n${kind.summary.capitalize}.\n"
    if (kind.params.isEmpty) head + "\nNo options.\n"
    else
      head + "\n| option | default | must be | meaning |\n|---|---|---|---|\n" +
        kind.params.map(row(_)).mkString
  }

  private def row[T](param: Param[T]): String =
    Seq(s"`${param.name}`", s"`${param.show(param.default)}`", param.allowed, param.doc)
      .map(_.replace("|", "\\|"))
      .mkString("| ", " | ", " |\n")

  def main(args: Array[String]): Unit = {
    val path = Paths.get(args.headOption.getOrElse("docs/reference/routers.md"))
    Files.createDirectories(path.toAbsolutePath.getParent)
    Files.writeString(path, page): Unit
  }
}

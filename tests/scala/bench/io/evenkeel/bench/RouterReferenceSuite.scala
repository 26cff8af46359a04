// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.spec.RouterKinds

class RouterReferenceSuite extends AnyFunSuite {

  test("the committed reference page is what the declarations say") {
    val committed = Files.readString(Paths.get("docs/reference/routers.md"))
    assert(
      committed == RouterReference.page,
      "run: tools/sbt \"bench/runMain io.evenkeel.bench.RouterReference docs/reference/routers.md\"")
  }

  test("every router and option is on the page") {
    RouterKinds.all.foreach { kind =>
      assert(RouterReference.page.contains(s"## `${kind.name}`"))
      kind.params.foreach(p => assert(RouterReference.page.contains(s"| `${p.name}` |")))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.{Hashing, RouterContext, RouterLaws, Routers}

class StaticRouterSuite extends AnyFunSuite with RouterLaws {
  routerLaws("hash")
  routerLaws("shuffle")

  test("hash sends a key where Hashing.bucket says, whatever came before") {
    val router = Routers.create("hash", RouterContext(7))
    (0L until 1000L).foreach { id =>
      val key = Hashing.ofId(id)
      assert(router.route(key) == Hashing.bucket(key, 7))
    }
  }

  test("shuffle goes round, each source from a target of its own") {
    val second = Routers.create("shuffle", RouterContext(3, source = 1, sources = 2))
    assert(Seq.fill(5)(second.route(42L)) == Seq(1, 2, 0, 1, 2))
  }
}

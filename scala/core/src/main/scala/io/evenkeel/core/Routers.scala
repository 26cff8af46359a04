// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import io.evenkeel.core.spec.RouterSpec

/** The one factory of routers. */
object Routers {

  /** A fresh router for one source. */
  def create(spec: RouterSpec, context: RouterContext): Router = spec.kind.create(spec, context)

  def create(text: String, context: RouterContext): Router = create(RouterSpec.parse(text), context)
}

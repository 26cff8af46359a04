// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

import io.evenkeel.core.choices.{HashKind, ShuffleKind}
import io.evenkeel.core.keel.{KeelKind, KeelTableKind}

/** Every kind of router the product has. */
object RouterKinds {
  val all: Seq[RouterKind] = Seq(HashKind, ShuffleKind, KeelKind, KeelTableKind)
}

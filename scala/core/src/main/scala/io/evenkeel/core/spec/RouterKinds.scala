// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

import io.evenkeel.core.choices.{
  DChoicesKind,
  HashKind,
  PkgKind,
  PotcKind,
  ShuffleKind,
  WChoicesKind
}
import io.evenkeel.core.dalton.DaltonKind
import io.evenkeel.core.greedy.{DaGreedyKind, OffGreedyKind, OnGreedyKind}
import io.evenkeel.core.holistic.{AmKind, CamKind, CmKind, LmKind}
import io.evenkeel.core.keel.{KeelKind, KeelTableKind}
import io.evenkeel.core.kip.KipKind
import io.evenkeel.core.prompt.PromptKind

/** Every kind of router the product has. */
object RouterKinds {
  val all: Seq[RouterKind] = Seq(
    HashKind,
    ShuffleKind,
    PkgKind,
    PotcKind,
    DChoicesKind,
    WChoicesKind,
    OnGreedyKind,
    OffGreedyKind,
    DaGreedyKind,
    DaltonKind,
    CmKind,
    AmKind,
    CamKind,
    LmKind,
    PromptKind,
    KipKind,
    KeelKind,
    KeelTableKind)
}

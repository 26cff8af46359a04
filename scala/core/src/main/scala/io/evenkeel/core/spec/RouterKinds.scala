// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

import io.evenkeel.core.choices.DChoicesKind
import io.evenkeel.core.choices.HashKind
import io.evenkeel.core.choices.PkgKind
import io.evenkeel.core.choices.PotcKind
import io.evenkeel.core.choices.ShuffleKind
import io.evenkeel.core.choices.WChoicesKind
import io.evenkeel.core.dalton.DaltonKind
import io.evenkeel.core.greedy.DaGreedyKind
import io.evenkeel.core.greedy.OffGreedyKind
import io.evenkeel.core.greedy.OnGreedyKind
import io.evenkeel.core.holistic.AmKind
import io.evenkeel.core.holistic.CamKind
import io.evenkeel.core.holistic.CmKind
import io.evenkeel.core.holistic.LmKind
import io.evenkeel.core.keel.KeelKind
import io.evenkeel.core.keel.KeelTableKind
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

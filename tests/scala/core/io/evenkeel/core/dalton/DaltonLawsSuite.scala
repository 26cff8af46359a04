// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.RouterLaws

class DaltonLawsSuite extends AnyFunSuite with RouterLaws {
  // Without the floor, short slides reach the bandit; with it, most runs of the laws stay with the
  // hash.
  routerLaws("dalton")
  routerLaws("dalton(statsFloor=0)")
  routerLaws("dalton(statsWindow=50, statsFloor=0, epsilon=0.5)")
  routerLaws("dalton(store=sketch, statsFloor=0)")
  routerLaws("dalton(maxFragments=4, statsFloor=0)")
  routerLaws("dalton(heavy=all)")
  routerLaws("dalton(heavy=top(8), statsFloor=0)")
  routerLaws("dalton(heavy=top(8), store=sketch, statsFloor=0)")
  routerLaws("dalton(mode=batch)")
  routerLaws("dalton(mode=batch, heavy=top(3), maxFragments=2)")
  routerLaws("dalton(mode=batch, heavy=all, store=sketch)")
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import java.io.{DataInputStream, DataOutputStream}

/**
 * Load of each target over the last `slides` slides.
 *
 * A row changes one number. What a slide added is worked out at its end, from the loads it began with, and
 * kept until it leaves the window.
 */
private[keel] final class WindowLoads(targets: Int, slides: Int) {
  val loads = new Array[Long](targets)
  private val atStart = new Array[Long](targets)
  private val ring = Array.ofDim[Long](slides, targets)
  private val ringRows = new Array[Long](slides)
  private var slideNumber = 0
  private var rows = 0L
  private var rowsAtStart = 0L
  private var sum = 0L

  def slide: Int = slideNumber

  def total: Long = sum

  /** Mean weight of a row of the window. */
  def meanRow: Double = if (rows == 0) 1.0 else sum.toDouble / rows

  def max: Long = {
    var (most, t) = (0L, 0)
    while (t < targets) {
      if (loads(t) > most) most = loads(t)
      t += 1
    }
    most
  }

  def add(target: Int, weight: Long): Unit = {
    loads(target) += weight
    sum += weight
    rows += 1
  }

  def endSlide(): Unit = {
    val ended = ring(slideNumber % slides)
    val leaving = ring((slideNumber + 1) % slides)
    sum = 0
    var t = 0
    while (t < targets) {
      ended(t) = loads(t) - atStart(t)
      loads(t) -= leaving(t)
      atStart(t) = loads(t)
      sum += loads(t)
      t += 1
    }
    ringRows(slideNumber % slides) = rows - rowsAtStart
    rows -= ringRows((slideNumber + 1) % slides)
    rowsAtStart = rows
    slideNumber += 1
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(slideNumber)
    out.writeLong(rows)
    out.writeLong(rowsAtStart)
    (loads +: atStart +: ringRows +: ring).foreach(_.foreach(out.writeLong))
  }

  def read(in: DataInputStream): Unit = {
    slideNumber = in.readInt()
    rows = in.readLong()
    rowsAtStart = in.readLong()
    (loads +: atStart +: ringRows +: ring).foreach { a =>
      a.indices.foreach(i => a(i) = in.readLong())
    }
    sum = loads.sum
  }
}

/** Load that the tail keys put on each target, aged by one slide's share at each slide's end. */
private[keel] final class TailLoads(targets: Int, slides: Int) {
  val loads = new Array[Long](targets)

  def add(target: Int, weight: Long): Unit = loads(target) += weight

  def endSlide(): Unit = {
    var t = 0
    while (t < targets) {
      loads(t) -= loads(t) / slides
      t += 1
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

/**
 * Counts the heavy keys of a stream in little memory: what a worker samples with (004 §3, DRW).
 *
 * For every key, counted or not, `lowerBound <= true weight <= upperBound` and the two differ by at most
 * `maximumError`, which each implementation bounds by a share of `total`. Counters of one kind and size
 * merge, and the bounds hold for the merged stream. Weights must be positive.
 */
trait KeyCounter {
  def add(key: Long, weight: Long): Unit

  final def add(key: Long): Unit = add(key, 1L)

  /** Weight of everything added. */
  def total: Long

  /** Best guess of a key's weight; 0 for a key that is not held. */
  def estimate(key: Long): Long

  def lowerBound(key: Long): Long

  def upperBound(key: Long): Long

  /** How far the two bounds of any key can lie apart. */
  def maximumError: Long

  /** Keys held now. */
  def size: Int

  /** The `top` keys with the largest guaranteed weights (lower bounds), ties by key. */
  def heaviest(top: Int): Array[CountedKey]

  /** Adds everything that `other`, a counter of the same kind and size, has seen. */
  def merge(other: KeyCounter): Unit

  /** Bytes of the arrays held now. */
  def memoryBytes: Long

  def toBytes: Array[Byte]
}

/** A key with the weight it has at least. */
final case class CountedKey(key: Long, weight: Long)

private[sketch] object CountedKey {

  /** Heaviest first, ties by key, so that equal counters list alike. */
  val heaviestFirst: Ordering[CountedKey] =
    Ordering.by[CountedKey, (Long, Long)](c => (-c.weight, c.key))

  def top(all: Array[CountedKey], top: Int): Array[CountedKey] =
    all.sorted(heaviestFirst).take(top)
}

private[sketch] object KeyCounter {

  def unlike(a: KeyCounter, b: KeyCounter): IllegalArgumentException =
    new IllegalArgumentException(s"cannot merge $b into $a: kind and size must be the same")
}

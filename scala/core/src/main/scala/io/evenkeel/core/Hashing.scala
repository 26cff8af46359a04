// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * The hash functions all routers share, so that "where HASH sends it" means one thing.
 *
 * A key hash is 64 bits and well mixed. `bucket` maps its upper half onto `[0, n)` by multiplication
 * (no division). Further independent choices re-hash it with Murmur3's 64-bit finaliser under a seed of
 * their own; choice 0 is always plain `bucket`, so a key's first candidate is its HASH target.
 */
object Hashing {
  private val Golden = 0x9e3779b97f4a7c15L

  /** Murmur3's fmix64: a bijection on 64 bits in which every input bit reaches every output bit. */
  def mix(x: Long): Long = {
    var z = x
    z = (z ^ (z >>> 33)) * 0xff51afd7ed558ccdL
    z = (z ^ (z >>> 33)) * 0xc4ceb9fe1a85ec53L
    z ^ (z >>> 33)
  }

  /** Hash of a key that is already a number, such as the ids of a trace. */
  def ofId(id: Long): Long = mix(id + Golden)

  /** Target of a key hash among `n`. */
  def bucket(keyHash: Long, n: Int): Int = (((keyHash >>> 32) * n) >>> 32).toInt

  /** The `i`-th independent hash of a key; the 0-th is the key hash itself. */
  def choiceHash(keyHash: Long, i: Int): Long =
    if (i == 0) keyHash else mix(keyHash ^ (i * Golden))

  /** The `i`-th candidate target of a key; two candidates of one key may coincide. */
  def choice(keyHash: Long, i: Int, n: Int): Int = bucket(choiceHash(keyHash, i), n)

  /**
   * Host of a key among `n * perTarget` virtual hosts. `host % n` is the key's HASH target, so a table that
   * sends host `h` to `h % n` is plain hashing.
   */
  def host(keyHash: Long, n: Int, perTarget: Int): Int =
    bucket(keyHash, n) + n * bucket(keyHash << 32, perTarget)
}

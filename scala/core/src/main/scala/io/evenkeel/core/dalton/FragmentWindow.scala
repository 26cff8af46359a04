// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}
import java.util.Arrays

/**
 * On which targets each tracked key lies within the sliding window (000 §3.3, Fig. 4).
 *
 * The current slide has a bit vector per key (`head`); the past slides have their union (`past`)
 * with a reference count per key and target, and a queue of blocks, each listing (key, bit vector)
 * of one slide. `X(k) = head(k) OR past(k)`; its number of ones is kept up to date. At the end of a
 * slide the head is appended to the queue and added to the counts, and the block that leaves the
 * window is taken off them: O(keys in head + keys in tail). A row costs O(1).
 *
 * Keys are known by slot number. A slot that is dropped gets a new generation; the entries it left
 * in the queue no longer count.
 *
 * Memory is bounded: when the queue would hold more than `MaxEntries`, its oldest block expires
 * early, and keys seem less split than they are.
 */
private[dalton] final class FragmentWindow(n: Int, blocks: Int) {
  import FragmentWindow._

  private val words = (n + 63) / 64
  private var slots = 0
  private var head = new Array[Long](0)
  private var past = new Array[Long](0)
  private var refs = new Array[Short](0)
  private var counts = new Array[Int](0)
  private var generations = new Array[Int](0)
  private var queued = new Array[Int](0)
  private var touched = new Array[Int](0)
  private var inHead = new Array[Boolean](0)
  private var headSize = 0

  // The queue: entries first .. first + size - 1 of a circular arena, cut into blocks by their
  // sizes.
  private var arena = 64
  private var entrySlots = new Array[Int](arena)
  private var entryGenerations = new Array[Int](arena)
  private var entryBits = new Array[Long](arena * words)
  private var first = 0
  private var size = 0
  private val blockSizes = new Array[Int](math.max(1, blocks - 1))
  private var firstBlock = 0
  private var pastBlocks = 0

  private var emptied = new Array[Int](0)
  private var emptiedSize = 0

  def bytes: Long = slots * (16L * words + 2L * n + 21) + arena * (8L + 8L * words)

  def ensureSlots(count: Int): Unit = if (count > slots) resize(count)

  private def resize(count: Int): Unit = {
    slots = count
    head = Arrays.copyOf(head, count * words)
    past = Arrays.copyOf(past, count * words)
    refs = Arrays.copyOf(refs, count * n)
    counts = Arrays.copyOf(counts, count)
    generations = Arrays.copyOf(generations, count)
    queued = Arrays.copyOf(queued, count)
    touched = Arrays.copyOf(touched, count)
    inHead = Arrays.copyOf(inHead, count)
    emptied = Arrays.copyOf(emptied, count)
  }

  /** `||X(k)||`: on how many targets the key lies. */
  def count(slot: Int): Int = counts(slot)

  def holds(slot: Int, target: Int): Boolean = {
    val w = slot * words + (target >> 6)
    ((head(w) | past(w)) & (1L << target)) != 0
  }

  /** A row of the key went to the target. */
  def touch(slot: Int, target: Int): Unit = {
    val w = slot * words + (target >> 6)
    val bit = 1L << target
    if ((head(w) & bit) == 0) {
      if ((past(w) & bit) == 0) counts(slot) += 1
      head(w) |= bit
      if (!inHead(slot)) {
        inHead(slot) = true
        touched(headSize) = slot
        headSize += 1
      }
    }
  }

  /** No slide of the window holds a row of the key. */
  def isEmpty(slot: Int): Boolean = counts(slot) == 0

  /** The `index`-th target of the key, ascending; `index` below `count`. */
  def target(slot: Int, index: Int): Int = {
    var (w, left) = (0, index)
    var bits = head(slot * words) | past(slot * words)
    while (java.lang.Long.bitCount(bits) <= left) {
      left -= java.lang.Long.bitCount(bits)
      w += 1
      bits = head(slot * words + w) | past(slot * words + w)
    }
    while (left > 0) {
      bits &= bits - 1
      left -= 1
    }
    w * 64 + java.lang.Long.numberOfTrailingZeros(bits)
  }

  /** Forgets the key, so that the slot can serve another. */
  def drop(slot: Int): Unit = {
    Arrays.fill(head, slot * words, (slot + 1) * words, 0L)
    Arrays.fill(past, slot * words, (slot + 1) * words, 0L)
    Arrays.fill(refs, slot * n, (slot + 1) * n, 0.toShort)
    counts(slot) = 0
    queued(slot) = 0
    generations(slot) += 1
  }

  /**
   * Ends the slide. Afterwards `emptiedSlots` lists the slots whose last fragment left the window.
   */
  def endSlide(): Unit = {
    emptiedSize = 0
    if (blocks == 1) clearHead()
    else {
      if (pastBlocks == blocks - 1) expireBlock()
      pushHead()
    }
  }

  def emptiedCount: Int = emptiedSize

  def emptiedSlot(i: Int): Int = emptied(i)

  /** Every key starts afresh: the window is a micro-batch and the next one begins. */
  def clear(): Unit = {
    (0 until slots).foreach { slot =>
      drop(slot)
      inHead(slot) = false
    }
    headSize = 0
    first = 0
    size = 0
    firstBlock = 0
    pastBlocks = 0
    emptiedSize = 0
  }

  private def clearHead(): Unit = {
    var i = 0
    while (i < headSize) {
      val slot = touched(i)
      inHead(slot) = false
      Arrays.fill(head, slot * words, (slot + 1) * words, 0L)
      counts(slot) = 0
      emptied(emptiedSize) = slot
      emptiedSize += 1
      i += 1
    }
    headSize = 0
  }

  private def pushHead(): Unit = {
    while (pastBlocks > 0 && size + headSize > MaxEntries) expireBlock()
    ensureArena(size + headSize)
    val before = size
    var i = 0
    while (i < headSize) {
      val slot = touched(i)
      inHead(slot) = false
      // A slot dropped in this slide and not used again has nothing to say.
      if (counts(slot) > 0) push(slot)
      i += 1
    }
    blockSizes((firstBlock + pastBlocks) % blockSizes.length) = size - before
    pastBlocks += 1
    headSize = 0
  }

  private def push(slot: Int): Unit = {
    val at = (first + size) % arena
    entrySlots(at) = slot
    entryGenerations(at) = generations(slot)
    var w = 0
    while (w < words) {
      var bits = head(slot * words + w)
      entryBits(at * words + w) = bits
      past(slot * words + w) |= bits
      head(slot * words + w) = 0
      while (bits != 0) {
        val ref = slot * n + w * 64 + java.lang.Long.numberOfTrailingZeros(bits)
        refs(ref) = (refs(ref) + 1).toShort
        bits &= bits - 1
      }
      w += 1
    }
    queued(slot) += 1
    size += 1
  }

  private def expireBlock(): Unit = {
    var left = blockSizes(firstBlock)
    while (left > 0) {
      if (entryGenerations(first) == generations(entrySlots(first))) expire(first)
      first = (first + 1) % arena
      size -= 1
      left -= 1
    }
    firstBlock = (firstBlock + 1) % blockSizes.length
    pastBlocks -= 1
  }

  private def expire(entry: Int): Unit = {
    val slot = entrySlots(entry)
    var w = 0
    while (w < words) {
      var bits = entryBits(entry * words + w)
      while (bits != 0) {
        val bit = bits & -bits
        val ref = slot * n + w * 64 + java.lang.Long.numberOfTrailingZeros(bit)
        refs(ref) = (refs(ref) - 1).toShort
        if (refs(ref) == 0) {
          past(slot * words + w) &= ~bit
          if ((head(slot * words + w) & bit) == 0) counts(slot) -= 1
        }
        bits ^= bit
      }
      w += 1
    }
    queued(slot) -= 1
    if (queued(slot) == 0 && counts(slot) == 0) {
      emptied(emptiedSize) = slot
      emptiedSize += 1
    }
  }

  private def ensureArena(entries: Int): Unit = if (entries > arena) {
    val larger = math.max(entries, arena * 2)
    val (s, g, b) =
      (new Array[Int](larger), new Array[Int](larger), new Array[Long](larger * words))
    (0 until size).foreach { i =>
      val from = (first + i) % arena
      s(i) = entrySlots(from)
      g(i) = entryGenerations(from)
      System.arraycopy(entryBits, from * words, b, i * words, words)
    }
    entrySlots = s
    entryGenerations = g
    entryBits = b
    arena = larger
    first = 0
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(slots)
    generations.foreach(out.writeInt)
    out.writeInt(headSize)
    (0 until headSize).foreach { i =>
      out.writeInt(touched(i))
      (0 until words).foreach(w => out.writeLong(head(touched(i) * words + w)))
    }
    out.writeInt(pastBlocks)
    (0 until pastBlocks).foreach(b =>
      out.writeInt(blockSizes((firstBlock + b) % blockSizes.length)))
    (0 until size).foreach { i =>
      val at = (first + i) % arena
      out.writeInt(entrySlots(at))
      out.writeInt(entryGenerations(at))
      (0 until words).foreach(w => out.writeLong(entryBits(at * words + w)))
    }
  }

  def read(in: DataInputStream): Unit = {
    clear()
    resize(in.readInt())
    (0 until slots).foreach(i => generations(i) = in.readInt())
    readPast(in)
  }

  private def readPast(in: DataInputStream): Unit = {
    headSize = in.readInt()
    (0 until headSize).foreach { i =>
      val slot = in.readInt()
      touched(i) = slot
      inHead(slot) = true
      (0 until words).foreach(w => head(slot * words + w) = in.readLong())
    }
    pastBlocks = in.readInt()
    (0 until pastBlocks).foreach(b => blockSizes(b) = in.readInt())
    size = (0 until pastBlocks).map(b => blockSizes(b)).sum
    val entries = size
    size = 0
    ensureArena(entries)
    size = entries
    (0 until size).foreach(readEntry(_, in))
    (0 until slots).foreach { slot =>
      counts(slot) = (0 until words).map { w =>
        java.lang.Long.bitCount(head(slot * words + w) | past(slot * words + w))
      }.sum
    }
  }

  private def readEntry(at: Int, in: DataInputStream): Unit = {
    entrySlots(at) = in.readInt()
    entryGenerations(at) = in.readInt()
    val slot = entrySlots(at)
    val alive = entryGenerations(at) == generations(slot)
    (0 until words).foreach { w =>
      val bits = in.readLong()
      entryBits(at * words + w) = bits
      if (alive) {
        past(slot * words + w) |= bits
        (0 until 64).foreach { b =>
          if ((bits & (1L << b)) != 0)
            refs(slot * n + w * 64 + b) = (refs(slot * n + w * 64 + b) + 1).toShort
        }
      }
    }
    if (alive) queued(slot) += 1
  }
}

private[dalton] object FragmentWindow {

  /** At n = 128 the queue stays below 800 KiB. */
  val MaxEntries: Int = 1 << 15
}

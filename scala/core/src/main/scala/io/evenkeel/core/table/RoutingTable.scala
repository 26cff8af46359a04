// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.table

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.{LongIntMap, Snapshot}

/**
 * Where every key goes, as a value: heavy keys have a list of targets each, every other key goes to its
 * host and the host to a target.
 *
 * {{{
 * targets = 4, hosts = 8 (host h -> h % 4), heavy: key A -> [2], key B -> [0, 1, 1]
 * A's rows go to 2; B's to 0 or 1 by their spread value, 1 twice as often; the rest by host
 * }}}
 *
 * Lists of length 1 isolate keys (KIP); longer ones split them (KEEL), and a target that stands in a list
 * `j` times takes `j` parts of the key. A look-up is a pure function of its arguments, costs one hash
 * probe, and gives the same answer in every task that holds an equal table: retries and speculation
 * cannot send a row elsewhere.
 *
 * @param hostTargets target of each host; its length is a multiple of `targets`
 */
final class RoutingTable private (
    val targets: Int,
    private val hostTargets: Array[Int],
    private val keys: Array[Long],
    private val starts: Array[Int],
    private val lists: Array[Int]) {

  private val slots = {
    val map = new LongIntMap(keys.length)
    keys.indices.foreach(i => map.put(keys(i), i))
    map
  }

  def hosts: Int = hostTargets.length

  def hostsPerTarget: Int = hosts / targets

  /**
   * Target of a row.
   *
   * @param host the key's host in `[0, hosts)`
   * @param spread a value of the row that divides a split key's rows over its list
   */
  def lookup(keyHash: Long, host: Int, spread: Int): Int = {
    val slot = slots.getOrElse(keyHash, -1)
    if (slot < 0) hostTargets(host)
    else {
      val from = starts(slot)
      val length = starts(slot + 1) - from
      if (length == 1) lists(from) else lists(from + Math.floorMod(spread, length))
    }
  }

  /**
   * Place of a key's list, or -1 if it goes by its host: `lookup` in two steps, for callers whose spread value
   * costs something and is needed for split keys only.
   */
  def slotOf(keyHash: Long): Int = slots.getOrElse(keyHash, -1)

  /** Whether the list at `slot` has several entries. */
  def isSplit(slot: Int): Boolean = starts(slot + 1) - starts(slot) > 1

  /**
   * Entry of the list at `slot` that `fraction`, read as an unsigned 32-bit part of 1, falls on.
   *
   * Unlike a remainder this keeps close values close, so that fractions which are evenly spaced, such as
   * multiples of the golden ratio, fall evenly on a list of any length.
   */
  def pick(slot: Int, fraction: Int): Int = {
    val from = starts(slot)
    val length = starts(slot + 1) - from
    lists(from + (((fraction & 0xffffffffL) * length) >>> 32).toInt)
  }

  def targetOfHost(host: Int): Int = hostTargets(host)

  /** Keys with a list of their own, ascending. */
  def heavyKeys: Array[Long] = keys.clone()

  /** The list of a heavy key; empty for any other. */
  def targetsOf(keyHash: Long): Array[Int] = {
    val slot = slots.getOrElse(keyHash, -1)
    if (slot < 0) Array.emptyIntArray else lists.slice(starts(slot), starts(slot + 1))
  }

  /** Whether any key has more than one target; if not, spread values do not matter. */
  val splits: Boolean = lists.length > keys.length

  /** Whether this is plain hashing: no heavy key, and host `h` at target `h % targets`. */
  def isPlain: Boolean =
    keys.isEmpty && hostTargets.indices.forall(h => hostTargets(h) == h % targets)

  /** This table with other hosts. */
  def withHosts(newHostTargets: Array[Int]): RoutingTable =
    RoutingTable.validated(targets, newHostTargets.clone(), keys, starts, lists)

  override def equals(other: Any): Boolean = other match {
    case that: RoutingTable =>
      targets == that.targets && java.util.Arrays.equals(hostTargets, that.hostTargets) &&
      java.util.Arrays.equals(keys, that.keys) && java.util.Arrays.equals(starts, that.starts) &&
      java.util.Arrays.equals(lists, that.lists)
    case _ => false
  }

  override def hashCode: Int =
    ((targets * 31 + java.util.Arrays.hashCode(hostTargets)) * 31 +
      java.util.Arrays.hashCode(keys)) * 31 + java.util.Arrays.hashCode(lists)

  override def toString: String =
    s"RoutingTable(targets=$targets, hosts=$hosts, heavy=${keys.length}, entries=${lists.length})"

  def toBytes: Array[Byte] = Snapshot.write(RoutingTable.Kind, RoutingTable.Version)(write)

  private def write(out: DataOutputStream): Unit = {
    out.writeInt(targets)
    out.writeInt(hosts)
    hostTargets.foreach(out.writeInt)
    out.writeInt(keys.length)
    keys.indices.foreach { i =>
      out.writeLong(keys(i))
      out.writeInt(starts(i + 1) - starts(i))
      (starts(i) until starts(i + 1)).foreach(j => out.writeInt(lists(j)))
    }
  }
}

object RoutingTable {
  private val Kind = "routing-table"
  private val Version = 1

  /** Plain hashing over `targets`, with `hostsPerTarget` hosts each: epoch 0 of every table. */
  def plain(targets: Int, hostsPerTarget: Int): RoutingTable =
    apply(Array.tabulate(targets * hostsPerTarget)(_ % targets), targets, Seq.empty)

  /** A table from a host table and the lists of the heavy keys, in any order. */
  def apply(hostTargets: Array[Int], targets: Int, heavy: Seq[(Long, Array[Int])]): RoutingTable = {
    val sorted = heavy.sortBy(_._1).toArray
    validated(
      targets,
      hostTargets.clone(),
      sorted.map(_._1),
      sorted.map(_._2.length).scanLeft(0)(_ + _),
      sorted.flatMap(_._2))
  }

  def fromBytes(bytes: Array[Byte]): RoutingTable =
    Snapshot.read(Kind, Version, bytes)((_, in) => read(in))

  private def read(in: DataInputStream): RoutingTable = {
    val targets = in.readInt()
    val hostTargets = Array.fill(in.readInt())(in.readInt())
    val heavy = Array.fill(in.readInt())((in.readLong(), Array.fill(in.readInt())(in.readInt())))
    apply(hostTargets, targets, heavy.toSeq)
  }

  private def validated(
      targets: Int,
      hostTargets: Array[Int],
      keys: Array[Long],
      starts: Array[Int],
      lists: Array[Int]): RoutingTable = {
    require(targets >= 1, s"a table needs at least one target, not $targets")
    require(
      hostTargets.nonEmpty && hostTargets.length % targets == 0,
      s"${hostTargets.length} hosts are not a multiple of $targets targets")
    require(
      hostTargets.forall(t => t >= 0 && t < targets) && lists.forall(t => t >= 0 && t < targets),
      s"a target lies outside [0, $targets)")
    keys.indices.foreach { i =>
      require(starts(i) < starts(i + 1), s"heavy key ${keys(i)} has an empty list")
      require(i == 0 || keys(i - 1) != keys(i), s"heavy key ${keys(i)} stands twice")
    }
    new RoutingTable(targets, hostTargets, keys, starts, lists)
  }
}

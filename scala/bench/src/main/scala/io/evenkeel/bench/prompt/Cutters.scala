// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import io.evenkeel.core.prompt.BlockPacker
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{PlanningRouter, Router, RouterContext, Routers}

/** Cuts one micro-batch after the other into blocks; may learn from earlier ones. */
trait Cutter {
  def cut(rows: Array[Long]): Cut
}

/** The packers that 002 compares, by name. */
object Cutters {

  /** Names that are no routers; every router of the product is a cutter too. */
  val names: Seq[String] = Seq("time", "ffd", "min_fragments", "pk2", "pk5")

  def isName(text: String): Boolean = names.contains(text.trim.toLowerCase(java.util.Locale.ROOT))

  /**
   * `time`, `ffd` (first fit decreasing), `min_fragments`, `pk2`, `pk5`, or a router such as `hash`,
   * `shuffle`, `cam(choices=4)`, `prompt`, `prompt(exact=on)` (post-sort), `prompt(packer=printed)`.
   */
  def create(name: String, blocks: Int): Cutter =
    name.trim.toLowerCase(java.util.Locale.ROOT) match {
      case "time" => new TimeBlocks(blocks)
      case "ffd" => new PackedBlocks(FirstFitDecreasing, blocks)
      case "min_fragments" => new PackedBlocks(MinFragments, blocks)
      case "pk2" => create("pkg(d=2)", blocks)
      case "pk5" => create("pkg(d=5)", blocks)
      case _ => new RoutedBlocks(RouterSpec.parse(name), blocks)
    }
}

/** Consecutive stretches of the batch at a steady data rate: what Spark Streaming does (002 §2.2.1). */
final class TimeBlocks(blocks: Int) extends Cutter {
  override def cut(rows: Array[Long]): Cut =
    Cut.ofRows(
      rows,
      Array.tabulate(rows.length)(i => (i.toLong * blocks / rows.length).toInt),
      blocks)
}

/** A packer that is given the exact counts. */
final class PackedBlocks(packer: BlockPacker, blocks: Int) extends Cutter {
  override def cut(rows: Array[Long]): Cut = {
    val batch = Cut.count(rows)
    new Cut(batch, packer.pack(batch, blocks))
  }
}

/** A router of the product, whose targets are the blocks; a batch is one tumbling window. */
final class RoutedBlocks(spec: RouterSpec, blocks: Int) extends Cutter {
  private val router: Router = Routers.create(spec, RouterContext(blocks))

  override def cut(rows: Array[Long]): Cut = {
    router match {
      case planner: PlanningRouter =>
        rows.take(planner.lookahead).foreach(planner.observe(_, 1L))
        planner.plan()
      case _ =>
    }
    val blockOf = rows.map(router.route(_))
    router.endSlide()
    router.endWindow()
    Cut.ofRows(rows, blockOf, blocks)
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.NarrowDependency
import org.apache.spark.rdd.{MapPartitionsRDD, ParallelCollectionRDD, RDD}

/**
 * Whether an RDD is data of the driver, as `createDataFrame(rows)` and `parallelize(...).map(...)` make it, so
 * that a task that runs again gets it in the same order.
 *
 * Functions given to `map` count as repeatable, as Spark itself takes them. What comes out of a query, by
 * `df.rdd`, does not: a sort in there may break ties differently when it spills.
 */
private[plan] object LocalData {

  def apply(rdd: RDD[_]): Boolean = rdd match {
    case _: ParallelCollectionRDD[_] => true
    case m: MapPartitionsRDD[_, _] =>
      // Operators of a query are named like `Sort`, methods of an RDD like `map`.
      m.scope.forall(_.name.headOption.exists(_.isLower)) && m.dependencies.forall {
        case narrow: NarrowDependency[_] => apply(narrow.rdd)
        case _ => false
      }
    case _ => false
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode.{Append, Update}
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.scalatest.exceptions.TestFailedException

import io.evenkeel.EvenkeelExtensions

/** The checks of the other suites must notice when rows are routed anew and their state stays behind. */
class NegativeControlSuite extends StreamSuite {

  override protected def settings: Map[String, String] = super.settings ++ Map(
    LeaveStateBehind.Key -> "true",
    "spark.sql.extensions" -> s"${classOf[EvenkeelExtensions].getName},${classOf[LeaveStateBehind].getName}")

  private val aggregate =
    StreamCase("aggregate", Update(), (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")))

  /** Its state is in column families and stays. */
  private val join = StreamCase(
    "join",
    Append(),
    (left, right) => left.join(right.toDF("k2", "v2", "ts2"), expr("k = k2")),
    Map(
      "spark.sql.streaming.join.stateFormatVersion" -> "4",
      "spark.sql.streaming.join.stateFormatV4.enabled" -> "true"),
    Seq(OperatorState.join(format = 4)),
    Backend.rocksDBs)

  for (part <- join.state.head.parts)
    test(s"without migration some key of a join lies in the wrong partition, ${part.values.head}") {
      val one = join.copy(state = join.state.map(_.copy(parts = Seq(part))))
      val failure = intercept[TestFailedException](assertPlaced(one, unmoved))
      assert(failure.getMessage.contains(part.values.head))
    }

  private lazy val unmoved = run(join, moving(Backend.rocksDB, Seq(3)))

  for (backend <- Seq(Backend.hdfs, Backend.rocksDB)) {
    test(s"without migration the rows of some batch differ, ${backend.name}") {
      val ours = run(aggregate, moving(backend, Seq(3)))
      intercept[TestFailedException](assertSame(ours, plain(aggregate)))
    }

    test(s"without migration some key lies in the wrong partition, ${backend.name}") {
      val ours = run(aggregate, moving(backend, Seq(3)))
      intercept[TestFailedException](assertPlaced(aggregate, ours))
    }

    test(s"without migration the next one stops the query, ${backend.name}") {
      val failure = intercept[Exception](run(aggregate, moving(backend, Seq(3, 5))))
      assert(failure.getMessage.contains("EVENKEEL_STATE_MISPLACED"))
    }
  }
}

/** Takes the migration out of the plan of one batch, where a setting asks for it. */
final class LeaveStateBehind extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectColumnar { _ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = LeaveStateBehind.Strip
      }
    }
}

object LeaveStateBehind {
  val Batch = 3L
  val Key = "spark.evenkeel.test.leaveStateBehind"

  object Strip extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (SQLConf.get.getConfString(Key, "false") != "true") plan
      else
        plan.transform {
          case m: StateMigrateExec if m.stores.head.info.storeVersion == Batch =>
            m.copy(migration = None)
        }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.StateStoreId

/** The notes that the running tasks of this JVM have for their stores: gone when the task is. */
private[state] object TaskNotes {
  private val notes = new ConcurrentHashMap[(Long, StateStoreId), StoreNote]()

  def leave(id: StateStoreId, note: StoreNote): Unit = {
    val context = TaskContext.get()
    val key = (context.taskAttemptId(), id)
    notes.put(key, note)
    context.addTaskCompletionListener[Unit] { _ =>
      notes.remove(key)
      ()
    }
    ()
  }

  /** The note for a store, if it is opened by a task whose plan is ours. */
  def find(id: StateStoreId): Option[StoreNote] =
    Option(TaskContext.get()).flatMap(c => Option(notes.get((c.taskAttemptId(), id))))
}

// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

/** A mistake of the person at the command line: one clear sentence, exit code 2. */
final class UsageException(message: String) extends RuntimeException(message)

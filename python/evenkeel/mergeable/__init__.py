# SPDX-License-Identifier: Apache-2.0
"""Mergeable Python aggregates: a hot key is many small states instead of one huge group.

Read in this order: `definition` (what a user gives), `plan` (the query made of it), `steps` (what
a task does with batches), `calls` (how a user's function is called and checked).
"""

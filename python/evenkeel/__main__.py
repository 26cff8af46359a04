# SPDX-License-Identifier: Apache-2.0
"""`python -m evenkeel` is the `evenkeel` command."""

from evenkeel.cli import main

main()

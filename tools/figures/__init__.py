# SPDX-License-Identifier: Apache-2.0
"""The papers' tables and figures, one module per paper, one function per figure."""

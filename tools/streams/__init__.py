# SPDX-License-Identifier: Apache-2.0
"""The measured streams of `tools/bench_stream.py`: one module per question."""

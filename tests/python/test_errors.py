# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from evenkeel import errors

FACTORIES = [
    function
    for _, function in inspect.getmembers(errors, inspect.isfunction)
    if function.__module__ == errors.__name__
]
SAMPLES = {"str": "x", "int": 1, "Path": Path("/x")}


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda f: f.__name__)
def test_every_error_names_its_condition_and_ends_in_a_remedy(
    factory: Callable[..., errors.EvenkeelError],
) -> None:
    parameters = inspect.signature(factory).parameters.values()
    error = factory(*(SAMPLES[str(p.annotation)] for p in parameters))
    assert error.condition == f"EVENKEEL_{factory.__name__}".upper()
    assert str(error) == f"[{error.condition}] {error.problem} {error.remedy}"
    assert error.problem.endswith(".")
    assert error.remedy.endswith(".")

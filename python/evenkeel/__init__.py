# SPDX-License-Identifier: Apache-2.0
"""Evenkeel: skew-proof keyed work for Apache Spark.

import evenkeel
spark = evenkeel.session(app="orders")
"""

from evenkeel import installation
from evenkeel.errors import EvenkeelError
from evenkeel.explanation import Decision, decisions, explain, report, why_not
from evenkeel.hints import (
    am,
    cam,
    cm,
    dagreedy,
    dalton,
    dchoices,
    keel,
    lm,
    no_evenkeel,
    pkg,
    route,
    shuffle_keys,
    wchoices,
)
from evenkeel.installation import jar
from evenkeel.mergeable.definition import Aggregator, aggregator
from evenkeel.mergeable.laws import check_aggregator
from evenkeel.mergeable.plan import aggregate
from evenkeel.spark_session import enable, session
from evenkeel.streaming import ProviderChange, adopt, release, routing

__version__ = installation.VERSION

__all__ = [
    "Aggregator",
    "Decision",
    "EvenkeelError",
    "ProviderChange",
    "__version__",
    "adopt",
    "aggregate",
    "aggregator",
    "am",
    "cam",
    "check_aggregator",
    "cm",
    "dagreedy",
    "dalton",
    "dchoices",
    "decisions",
    "enable",
    "explain",
    "jar",
    "keel",
    "lm",
    "no_evenkeel",
    "pkg",
    "release",
    "report",
    "route",
    "routing",
    "session",
    "shuffle_keys",
    "wchoices",
    "why_not",
]

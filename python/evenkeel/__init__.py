# SPDX-License-Identifier: Apache-2.0
"""Evenkeel: skew-proof keyed work for Apache Spark.

import evenkeel
spark = evenkeel.session(app="orders")
"""

from evenkeel import installation
from evenkeel.errors import EvenkeelError
from evenkeel.installation import jar
from evenkeel.mergeable.definition import Aggregator, aggregator
from evenkeel.mergeable.laws import check_aggregator
from evenkeel.mergeable.plan import aggregate
from evenkeel.spark_session import enable, session

__version__ = installation.VERSION

__all__ = [
    "Aggregator",
    "EvenkeelError",
    "__version__",
    "aggregate",
    "aggregator",
    "check_aggregator",
    "enable",
    "jar",
    "session",
]

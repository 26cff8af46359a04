# SPDX-License-Identifier: Apache-2.0
"""Evenkeel: skew-proof keyed work for Apache Spark.

import evenkeel
spark = evenkeel.session(app="orders")
"""

from evenkeel import installation
from evenkeel.errors import EvenkeelError
from evenkeel.installation import jar
from evenkeel.spark_session import enable, session

__version__ = installation.VERSION

__all__ = ["EvenkeelError", "__version__", "enable", "jar", "session"]

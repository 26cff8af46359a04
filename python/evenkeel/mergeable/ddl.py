# SPDX-License-Identifier: Apache-2.0
"""Reads schemas such as `n long, tags array<string>` without a session.

Spark's own parser lives in the JVM, and an aggregate is mostly defined when a module is loaded,
long before there is one. What this grammar lacks can be given as a `StructType`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenkeel import errors

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)+`|\w+|[<>(),:])")


def schema(which: str, given: StructType | str) -> StructType:
    """The schema itself, or the one that the text describes; `which` is for the error."""
    from pyspark.sql.types import StructType

    if isinstance(given, StructType):
        found = given
    elif isinstance(given, str):
        found = _Reader(which, given).whole()
    else:
        raise errors.aggregator_schema_invalid(which, repr(given), "it is neither")
    names = [name.lower() for name in found.names]
    if not names:
        raise errors.aggregator_schema_invalid(which, repr(given), "it has no column")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise errors.aggregator_schema_invalid(which, repr(given), f"`{twice}` is there twice")
    return found


class _Reader:
    """A recursive descent over the tokens of one text."""

    def __init__(self, which: str, text: str) -> None:
        self._which = which
        self._text = text
        self._tokens: list[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error(f"`{text[at:].strip()[0]}` is not understood")
            self._tokens.append(match.group(1))
            at = match.end()
        self._at = 0

    def whole(self) -> StructType:
        if not self._tokens:
            raise self._error("it has no column")
        found = self._fields()
        if self._at < len(self._tokens):
            raise self._error(f"`{self._tokens[self._at]}` is not expected")
        return found

    def _fields(self, *, closing: str = "") -> StructType:
        from pyspark.sql.types import StructField, StructType

        fields = []
        while True:
            name = self._take()
            name = name[1:-1].replace("``", "`") if name.startswith("`") else name
            if self._peek() == ":":
                self._take()
            fields.append(StructField(name, self._type()))
            if self._peek() == closing:
                return StructType(fields)
            self._expect(",")

    def _type(self) -> DataType:
        from pyspark.sql import types

        word = self._take().lower()
        if word == "struct":
            self._expect("<")
            inside = self._fields(closing=">")
            self._expect(">")
            return inside
        if word == "array":
            self._expect("<")
            element = self._type()
            self._expect(">")
            return types.ArrayType(element)
        if word == "map":
            self._expect("<")
            key = self._type()
            self._expect(",")
            value = self._type()
            self._expect(">")
            return types.MapType(key, value)
        if word in ("decimal", "dec", "numeric"):
            return types.DecimalType(*self._precision())
        simple = {
            ("boolean",): types.BooleanType,
            ("byte", "tinyint"): types.ByteType,
            ("short", "smallint"): types.ShortType,
            ("int", "integer"): types.IntegerType,
            ("long", "bigint"): types.LongType,
            ("float", "real"): types.FloatType,
            ("double",): types.DoubleType,
            ("string",): types.StringType,
            ("binary",): types.BinaryType,
            ("date",): types.DateType,
            ("timestamp", "timestamp_ltz"): types.TimestampType,
            ("timestamp_ntz",): types.TimestampNTZType,
        }
        for words, made in simple.items():
            if word in words:
                return made()
        raise self._error(f"`{word}` is no type known here")

    def _precision(self) -> tuple[int, int]:
        if self._peek() != "(":
            return 10, 0
        self._take()
        numbers = [self._number()]
        if self._peek() == ",":
            self._take()
            numbers.append(self._number())
        self._expect(")")
        precision, scale = (*numbers, 0)[:2]
        if not 1 <= precision <= 38 or scale > precision:
            raise self._error(f"decimal({precision}, {scale}) does not exist")
        return precision, scale

    def _number(self) -> int:
        word = self._take()
        if not word.isdigit():
            raise self._error(f"`{word}` is not a number")
        return int(word)

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        if self._at == len(self._tokens):
            raise self._error("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str) -> None:
        found = self._take()
        if found != token:
            raise self._error(f"`{token}` is expected where `{found}` stands")

    def _error(self, reason: str) -> errors.EvenkeelError:
        return errors.aggregator_schema_invalid(self._which, repr(self._text), reason)

"""Compares values with the schemas of the hub's description of itself, as far as that uses them."""

import re
from datetime import datetime

DOCUMENT = {}  # what the hub of the tests serves at /v1/openapi.json; the fixture hub fills it

_TYPES = {
    "array": lambda v: isinstance(v, list),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "object": lambda v: isinstance(v, dict),
    "string": lambda v: isinstance(v, str),
}
_REMARKS = {"default", "description", "title", "examples", "example"}  # and all that begin with x-


def resolved(node):
    while "$ref" in node:
        here = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            here = here[part]
        node = {**here, **{k: v for k, v in node.items() if k != "$ref"}}
    return node


def _fits(value, schema, where):
    try:
        check(value, schema, where)
    except AssertionError:
        return False
    return True


def _instant(value):
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value):
        return False
    return bool(datetime.fromisoformat(value.replace("Z", "+00:00")))


_FORMATS = {"date-time": _instant}

# Keyword: whether a value, of any type, agrees with its argument in a schema.
_RULES = {
    "type": lambda v, a: any(_TYPES[t](v) for t in ([a] if isinstance(a, str) else a)),
    "const": lambda v, a: v == a and isinstance(v, bool) == isinstance(a, bool),
    "enum": lambda v, a: v in a,
    "format": lambda v, a: _FORMATS[a](v),
    "pattern": lambda v, a: not isinstance(v, str) or re.search(a, v) is not None,
    "minLength": lambda v, a: not isinstance(v, str) or len(v) >= a,
    "maxLength": lambda v, a: not isinstance(v, str) or len(v) <= a,
    "minItems": lambda v, a: not isinstance(v, list) or len(v) >= a,
    "maxItems": lambda v, a: not isinstance(v, list) or len(v) <= a,
    "minimum": lambda v, a: not _TYPES["number"](v) or v >= a,
    "maximum": lambda v, a: not _TYPES["number"](v) or v <= a,
    "required": lambda v, a: not isinstance(v, dict) or set(a) <= set(v),
    "anyOf": lambda v, a: any(_fits(v, s, "") for s in a),
    "oneOf": lambda v, a: sum(_fits(v, s, "") for s in a) == 1,
}
_INNER = {"properties", "additionalProperties", "items", "allOf"}


def check(value, schema, where="it"):
    """Fails where a value is not what a schema says; a keyword that it does not know fails too."""
    schema = resolved(schema)
    for keyword, argument in schema.items():
        if keyword in _RULES:
            assert _RULES[keyword](value, argument), f"{where} is {value!r}, against {keyword} {argument!r}"
        else:
            assert keyword in _INNER | _REMARKS or keyword.startswith("x-"), f"{where}: {keyword} is not compared"
    for part in schema.get("allOf", []):
        check(value, part, where)
    if isinstance(value, dict):
        _check_members(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], f"{where}[{i}]")


def _check_members(value, schema, where):
    members, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name in members:
            check(inner, members[name], f"{where}.{name}")
        elif others is not True:
            assert others is not False, f"{where}.{name} is not described"
            check(inner, others, f"{where}.{name}")

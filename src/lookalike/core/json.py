"""How values become JSON: one way for every command and file; and the schema of what comes out.

A number that JSON lacks (NaN, infinity) becomes null: what is undefined is null.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import ComputedFieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from pydantic_core import to_json as serialized


def to_json(value: Any, *, indent: int | None = 2) -> str:  # noqa: ANN401 - any result
    """A result as JSON: dataclasses by field and `computed_field`, paths as text, numpy values as lists.

    >>> to_json({"value": float("nan")}, indent=None)
    '{"value":null}'
    """
    return serialized(plain(value), indent=indent, inf_nan_mode="null", fallback=str).decode()


def plain(value: Any) -> Any:  # noqa: ANN401 - any result
    """The same in dictionaries, lists, text and numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _published(type(value))}
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value  # numpy's scalars and arrays


@cache
def _published(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    """The fields of a dataclass, and its properties that are marked `computed_field`."""
    found = {name: one for base in reversed(kind.__mro__) for name, one in vars(base).items()}
    computed = (
        name
        for name, one in found.items()
        if isinstance(getattr(one, "decorator_info", None), ComputedFieldInfo)
    )
    return (*(field.name for field in fields(kind)), *computed)


def schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    """The JSON schema of a result type."""
    return TypeAdapter(kind).json_schema(mode="serialization", schema_generator=_Schema)


class _Schema(GenerateJsonSchema):
    """A float may be undefined, which JSON writes as null; a named tuple is an object."""

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {**super().float_schema(schema), "type": ["number", "null"]}

    def arguments_schema(self, schema: core_schema.ArgumentsSchema) -> JsonSchemaValue:
        return self.kw_arguments_schema(schema["arguments_schema"], None)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return {**super().dataclass_schema(schema), "additionalProperties": False}

"""Settings and requests declared once: each field has its type, default, bounds, title and help in one place.

Command options, form fields, JSON schemas and error messages are made from `model_fields` and `model_json_schema()`.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from lookalike.core.errors import ArgumentError

LONGEST_VALUE = 40

Checked = TypeVar("Checked", bound="CheckedSettings")


class Declared(BaseModel):
    """Base of models whose fields hold everything that forms, JSON schemas and error messages say about them.

    Raises ArgumentError for a wrong value or an unknown name, so that a misspelled setting is not ignored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, /, **values: Any) -> None:  # noqa: ANN401 - pydantic checks them
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _argument_error(type(self), error) from None


class CheckedSettings(Declared):
    """Settings given from Python, with strict types: text is no number, 1.5 and True are no whole numbers.

    NumPy scalars are taken for Python's own.

    >>> from pydantic import Field
    >>> class Walk(CheckedSettings):
    ...     steps: int = Field(10, ge=1, le=99, description="Steps of a walk.")
    >>> Walk(steps=3).changed(steps=4)
    Walk(steps=4)
    """

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _python_scalars(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: one.item() if isinstance(one, np.generic) else one for name, one in values.items()}

    def changed(self: Checked, **values: Any) -> Checked:  # noqa: ANN401 - the fields' own types
        """A copy with some other values, checked again."""
        return type(self)(**{**dict(self), **values})

    def as_values(self) -> dict[str, Any]:
        """The settings as JSON holds them; `Settings(**values)` makes them again."""
        return self.model_dump(mode="json")


def allowed(field: Mapping[str, Any]) -> str:
    """What a field takes, by its JSON schema.

    >>> allowed({"type": "integer", "minimum": 1, "maximum": 10_000})
    'a whole number from 1 to 10,000'
    >>> allowed({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]})
    'a number above 0, or nothing'
    >>> allowed({"anyOf": [{"const": 0}, {"type": "integer", "minimum": 100}]})
    '0, or a whole number, 100 or more'
    >>> allowed({"enum": ["similar", "dissimilar"]})
    'one of: similar, dissimilar'
    >>> allowed({"type": "string", "minLength": 1, "maxLength": 500})
    'text of 1 to 500 characters'
    """
    if "anyOf" in field:
        return ", or ".join(map(allowed, field["anyOf"]))
    if "const" in field:
        return str(field["const"])
    if "enum" in field:
        return f"one of: {', '.join(map(str, field['enum']))}"
    kind = field.get("type")
    if kind == "string":
        least, most = field.get("minLength", 0), field.get("maxLength")
        if most:
            return f"text of {least:,} to {most:,} characters"
        return "text" + " that is not empty" * bool(least)
    kinds = {"null": "nothing", "boolean": "true or false", "integer": "a whole number"}
    return kinds.get(str(kind), "a number") + _bounds(field)


def _bounds(field: Mapping[str, Any]) -> str:
    least, most = field.get("minimum"), field.get("maximum")
    if least is not None and most is not None:
        return f" from {least:,g} to {most:,.0f}" if most >= 10 else f" from {least:,g} to {most:,g}"
    words = (
        ("minimum", ", {:,g} or more"),
        ("maximum", ", {:,g} or less"),
        ("exclusiveMinimum", " above {:,g}"),
        ("exclusiveMaximum", " below {:,g}"),
    )
    return " and".join(text.format(field[name]) for name, text in words if name in field)


def _argument_error(model: type[BaseModel], error: ValidationError) -> ArgumentError:
    """The unknown names or else the first wrong field in the user's words, with what the field takes."""
    errors = error.errors(include_url=False)
    schema = model.model_json_schema()["properties"]
    unknown = [str(one["loc"][0])[:LONGEST_VALUE] for one in errors if one["type"] == "extra_forbidden"]
    if unknown:
        return ArgumentError(
            f"Unknown setting: {', '.join(unknown)}.", fix=f"Use one of: {', '.join(schema)}."
        )
    first = errors[0]
    name = str(first["loc"][0])
    key, field = next(
        (str(one.validation_alias or one.alias or key), one)
        for key, one in model.model_fields.items()
        if name in (key, one.alias, one.validation_alias)
    )
    value = "nothing" if first["type"] == "missing" else repr(first["input"])[:LONGEST_VALUE]
    title = f" ({field.title})" if field.title else ""
    example = f", for example {field.examples[0]}" if field.examples else ""
    return ArgumentError(
        f'Invalid value for "{name}"{title}: {value}.', fix=f"Use {allowed(schema[key])}{example}."
    )

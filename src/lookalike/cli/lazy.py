"""Groups and commands that are imported when they run, or when their own help is shown."""

import gc
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from lookalike.cli.commands import COMMANDS, PANELS, Entry
from lookalike.core.errors import ArgumentError

METAVARS = {Path: "PATH", int: "N", float: "X", str: "TEXT"}
NAMED = re.compile(r'(?<=^Invalid value )for "(\w+)"')
SPLIT = "--split"
SCHEMA = "--json-schema"  # prints the JSON schema of what --json prints


class UsageError(ArgumentError):
    """A wrong option or argument, found before the command starts."""


class Command(TyperCommand):
    """A command that also takes the former names of its options, and can print the schema of its JSON."""

    entry: Entry
    result: Any = None
    types: Mapping[str, Any] = MappingProxyType({})  # of its parameters, with their bounds

    def allowed(self, parameter: str) -> str:
        """What a parameter takes: "a whole number, 2 or more"."""
        from pydantic import Field, TypeAdapter

        from lookalike.core.settings import allowed

        kind, *notes = get_args(self.types[parameter])
        parts = [one for one in get_args(kind) if one is not type(None)]
        bounds = next((Field(ge=note.min, le=note.max) for note in notes if hasattr(note, "min")), None)
        value = parts[0] if get_origin(kind) in (Union, UnionType, list) else kind
        bounded: Any = Annotated[value, bounds]
        return allowed(TypeAdapter(bounded).json_schema())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own type
        """Read the arguments, renaming old options."""
        if SCHEMA in args and self.result is not None:
            from lookalike.core.json import schema_of, to_json

            sys.stdout.write(to_json(schema_of(self.result)) + "\n")
            raise typer.Exit
        return super().parse_args(ctx, list(_renamed(args, self.entry.renamed)))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - the parser's own type
        """Arguments as ENCODER, [ENCODER] or [ENCODER]..."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_placeholder, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the parser's own types
        """List arguments and options."""
        for kind in ("argument", "option"):
            parameters = [one for one in self.get_params(ctx) if one.param_type_name == kind]
            records = [record for one in parameters if (record := one.get_help_record(ctx)) is not None]
            rows = [(name.partition(" <")[0], _plain(help)) for name, help in records]
            if rows:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(rows)


class CommandGroup(TyperGroup):
    """Commands of the table, listed by panel from the table alone."""

    prefix = ""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - those of the parser
        super().__init__(**settings)
        self.commands = Commands(self.prefix)  # type: ignore[assignment]

    def format_commands(self, _ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the parser's own types
        """List the commands, each panel under its name."""
        entries = {name: COMMANDS[self.prefix + name] for name in self.commands}
        widest = max(map(len, entries))
        for panel in PANELS if not self.prefix else [""]:
            rows = [(name.ljust(widest), one.summary) for name, one in entries.items() if one.panel == panel]
            with formatter.section(panel or "Commands"):
                formatter.write_dl(rows)


class Commands(Mapping[str, Any]):
    """The commands of a group by name; looking one up imports it."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __getitem__(self, name: str) -> TyperCommand | TyperGroup:
        entry = COMMANDS[self.prefix + name]
        return _group(name, entry) if not entry.target else _command(name, entry)

    def __iter__(self) -> Iterator[str]:
        names = (name.removeprefix(self.prefix) for name in COMMANDS if name.startswith(self.prefix))
        return (name for name in names if " " not in name)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _group(name: str, entry: Entry) -> CommandGroup:
    kind = type("Subgroup", (CommandGroup,), {"prefix": f"{name} "})
    made: CommandGroup = kind(
        name=name, help=f"{entry.summary}.", no_args_is_help=True, rich_markup_mode=None
    )
    return made


def _command(name: str, entry: Entry) -> TyperCommand:
    module, _, called = entry.target.partition(":")
    function = getattr(import_module(f"lookalike.cli.{module}"), called)
    run = shown(function)
    found = {"entry": entry, "result": getattr(function, "result", None), "types": run.__annotations__}
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, cls=type("Command", (Command,), found))(run)
    made: TyperCommand = typer.main.get_command(alone)  # type: ignore[assignment]
    return made


def _placeholder(argument: Any) -> str:  # noqa: ANN401 - the parser's own type
    name = argument.metavar or argument.name.upper()
    return (name if argument.required else f"[{name}]") + ("..." if argument.nargs != 1 else "")


def _plain(help: str) -> str:
    """Defaults without parentheses, bounds in words.

    >>> _plain("Seed.  [default: (that of the workspace); x>=0]"), _plain("Port.  [default: 8321; 0<=x<=65535]")
    ('Seed.  [default: that of the workspace; at least 0]', 'Port.  [default: 8321; 0 to 65535]')
    """
    help = re.sub(r"\[default: \(([^)]*)\)", r"[default: \1", help)
    help = re.sub(r"([-\d.]+)<=x<=([-\d.]+)", r"\1 to \2", help)
    return re.sub(r"x>=([-\d.]+)", r"at least \1", help)


def _renamed(args: list[str], names: Mapping[str, str]) -> Iterator[str]:
    """Former names of options as those of today; other names of a split as the split.

    >>> list(_renamed(["--k=3", "--split", "val", "--", "--k"], {"--k": "-k"}))
    ['-k=3', '--split', 'validation', '--', '--k']
    """
    for at, one in enumerate(args):
        if one == "--":
            yield from args[at:]
            return
        head, sign, value = one.partition("=")
        if head == SPLIT and sign:
            value = _split(value)
        yield _split(one) if at and args[at - 1] == SPLIT else names.get(head, head) + sign + value


def _split(word: str) -> str:
    from lookalike.catalog.split import split_name

    return split_name(word) or word


def result(kind: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:  # noqa: ANN401 - a type
    """Say of a command what it prints with --json."""

    def marked(function: Callable[..., None]) -> Callable[..., None]:
        function.result = kind  # type: ignore[attr-defined]
        return function

    return marked


def shown(function: Callable[..., None]) -> Callable[..., None]:
    """The same command, whose help shows choices as [a|b] and other values by a word."""
    signature = inspect.signature(function, eval_str=True)
    models = {
        one.name: one.annotation
        for one in signature.parameters.values()
        if hasattr(one.annotation, "model_fields")
    }
    parameters = [
        one.replace(annotation=_with_metavar(one.annotation), kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        for one in (settings_of(models[parameter.name]) if parameter.name in models else [parameter])
    ]

    def called(**values: Any) -> None:  # noqa: ANN401 - what the parser read
        gc.freeze()  # modules stay until the end, so they are not traversed again and again
        gc.enable()
        for name, model in models.items():
            given = {
                option: values.pop(option)
                for option in (_option_of(*one) for one in model.model_fields.items())
            }
            try:
                values[name] = model(**given)
            except ArgumentError as error:
                problem = NAMED.sub(lambda found: f"for --{found[1].replace('_', '-')}", error.problem)
                raise UsageError(problem, fix=error.fix) from None
        function(**values)

    called.__doc__, called.__name__ = function.__doc__, function.__name__
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def settings_of(model: Any) -> list[inspect.Parameter]:  # noqa: ANN401 - a pydantic model
    """The fields of declared settings as options: name, type, help, default and bounds are theirs."""
    return [
        inspect.Parameter(
            _option_of(name, field),
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=_option_type(name, field),
        )
        for name, field in model.model_fields.items()
    ]


def _option_of(name: str, field: Any) -> str:  # noqa: ANN401 - a field of a pydantic model
    return field.validation_alias or name


def _option_type(name: str, field: Any) -> Any:  # noqa: ANN401 - a type with its option
    """The declared option if there is one, else one made from the field.

    A number with an exception, such as 0 or at least 100, is a number to the parser: the model checks it.
    """
    kind, bounds = field.annotation, dict[str, Any]()
    if declared := [rule for rule in field.metadata if isinstance(rule, OptionInfo)]:
        return Annotated[kind, declared[0]]
    if get_origin(kind) in (Union, UnionType) and type(None) not in get_args(kind):
        kind = get_args(get_args(kind)[-1])[0]
    for rule in field.metadata:
        bounds |= {"min": rule.ge} if hasattr(rule, "ge") else {"max": rule.le} if hasattr(rule, "le") else {}
    short = [f"-{name}"] if len(name) == 1 else []
    return Annotated[kind, typer.Option(*short, help=field.description, **bounds)]


def _with_metavar(annotation: Any) -> Any:  # noqa: ANN401 - a type with its option
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    for note in notes:
        if isinstance(note, OptionInfo | ArgumentInfo) and note.metavar is None and kind is not bool:
            made = copy(note)
            made.metavar = metavar(kind)
            return Annotated[kind, made]
    return annotation


def metavar(kind: Any) -> str:  # noqa: ANN401 - a type
    """How help shows the values of a type.

    >>> metavar(Literal["item", "image"] | None), metavar(list[str]), metavar(int)
    ('[item|image]', 'TEXT', 'N')
    """
    origin, parts = get_origin(kind), [one for one in get_args(kind) if one is not type(None)]
    if origin is Literal:
        return f"[{'|'.join(map(str, parts))}]"
    if origin in (Union, UnionType, list):
        return metavar(parts[0])
    return METAVARS.get(kind, "TEXT")

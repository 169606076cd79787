"""The `kernelguard` command: which subcommands there are, and the door through which bad usage becomes one line."""

from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from kernelguard import __version__
from kernelguard.cli.check import check
from kernelguard.cli.demo import demo
from kernelguard.cli.doctor import doctor
from kernelguard.cli.engine import Engine
from kernelguard.cli.exit_codes import ExitCode, complain, guarded
from kernelguard.cli.explain import explain
from kernelguard.cli.replay import replay

COMMANDS = (check, doctor, explain, replay, demo)
BadCommandLine: type[Exception] = typer.BadParameter.__mro__[1]  # the base of all that typer refuses; it moved between releases


def command_line() -> typer.Typer:
    """All subcommands, in the order in which `--help` lists them."""
    app = typer.Typer(
        name="kernelguard",
        help="A judge for GPU kernels that nobody trusts: is it right, and how fast is it really?",
        add_completion=False,
    )
    app.callback()(_top)
    for command in COMMANDS:
        app.command()(command)
    return app


def run(arguments: Sequence[str], engine: Engine) -> int:
    """Run one command line and give its exit code. Never raises for bad usage, bad input or a host that failed."""
    program = "kernelguard"
    if arguments and arguments[0] in {command.__name__ for command in COMMANDS}:
        program = f"kernelguard {arguments[0]}"

    def work() -> int:
        command = get_command(command_line())
        code = command.main(list(arguments) or ["--help"], prog_name="kernelguard", standalone_mode=False, obj=engine)
        return int(code or 0)

    try:
        return guarded(program, work)
    except BadCommandLine as refusal:
        return complain(program, f"{_message(refusal)} (see {program} --help)", ExitCode.BAD_INPUT)
    except typer.Abort:
        return complain(program, "interrupted", 130)


def _message(refusal: Exception) -> str:
    format_message = getattr(refusal, "format_message", None)
    message = str(format_message() if callable(format_message) else refusal)
    return message.replace("Value error, ", "").rstrip(".")


def _version(asked: bool) -> None:  # noqa: FBT001 - the shape that typer calls
    if asked:
        print(f"kernelguard {__version__}")
        raise typer.Exit


def _top(
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """A judge for GPU kernels that nobody trusts: is it right, and how fast is it really?"""

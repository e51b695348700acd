"""The commands that say who is who: register, bind, unbind."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from . import rendering
from .options import Options, common_options, text
from .running import run

if TYPE_CHECKING:
    from .running import AnyMemory

__all__ = ["bind", "register", "unbind"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _phone(*, required: bool = False) -> Callable[[_Function], _Function]:
    return click.option(
        "--phone", type=text, required=required, help="A number with its country code."
    )


def _device(*, required: bool = False) -> Callable[[_Function], _Function]:
    return click.option(
        "--device", type=text, required=required, help="The fingerprint that the device made."
    )


_ALIAS = click.option("--alias", type=text, help="Another user id that stands for the person.")


@click.command(epilog="Example: eunoe register --phone +8613800138000 --device 9f3a")
@_phone(required=True)
@_device(required=True)
@click.option("--time", type=text, help="When it was, ISO 8601 with offset; else now.")
@common_options
@click.pass_obj
def register(options: Options, phone: str, device: str, time: str | None) -> None:
    """Make a person known by phone and device.

    The same phone and device again are the same person. A phone that another device registered
    is another person's as well.
    """

    async def work(memory: "AnyMemory") -> str:
        from ..parameters import moment_of  # noqa: PLC0415 - keeps the imports of --help few

        moment = moment_of("--time", time)
        return await memory.register(
            phone=phone, device=device, registered_at=moment, tenant_id=options.tenant_id
        )

    user = run(work, options)
    if options.as_json:
        rendering.print_json({"user_id": user})
    else:
        click.echo(f"The person's user id is {rendering.plain(user)}")


@click.command(epilog="Example: eunoe bind --phone +8613900139000 --user 2f7d1a9c04be5638")
@_phone()
@_device()
@_ALIAS
@common_options
@click.pass_obj
def bind(options: Options, phone: str | None, device: str | None, alias: str | None) -> None:
    """Let a phone or device stand for a person."""
    _change(options, bound=True, phone=phone, device=device, alias=alias)


@click.command(epilog="Example: eunoe unbind --device 9f3a --user 2f7d1a9c04be5638")
@_phone()
@_device()
@_ALIAS
@common_options
@click.pass_obj
def unbind(options: Options, phone: str | None, device: str | None, alias: str | None) -> None:
    """Let a phone or device no longer stand for a person."""
    _change(options, bound=False, phone=phone, device=device, alias=alias)


def _change(options: Options, *, bound: bool, **named: str | None) -> None:
    user = options.user

    async def work(memory: "AnyMemory") -> None:
        call = memory.bind if bound else memory.unbind
        await call(user_id=user, tenant_id=options.tenant_id, **named)

    run(work, options)
    shown = rendering.plain(user)
    if options.as_json:
        rendering.print_json({"bound": bound})
    elif bound:
        click.echo(f"It stands for {shown} from now on.")
    else:
        click.echo(f"It doesn't stand for {shown} any more.")

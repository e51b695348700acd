"""The commands about topics, where no cluster is set or asked."""

import json

import pytest
from click.testing import CliRunner

from eunoe.cli import commands

NO_CLUSTER = {"EUNOE_KAFKA": ""}


@pytest.mark.parametrize("command", ["diff", "apply"])
def test_without_a_cluster_it_says_what_to_set(command: str) -> None:
    """The sentence names EUNOE_KAFKA, and the exit code is that of a refusal."""
    done = CliRunner(env=NO_CLUSTER).invoke(commands, ["topics", command])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "EUNOE_KAFKA" in done.stderr
    done = CliRunner(env=NO_CLUSTER).invoke(commands, ["topics", command, "--json"])
    assert "EUNOE_KAFKA" in json.loads(done.stderr)["error"]["sentence"]


def test_a_malformed_setting_is_told() -> None:
    """The sentence names the variable before any broker is asked."""
    done = CliRunner(env={"EUNOE_KAFKA": "127.0.0.1"}).invoke(commands, ["topics", "diff"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "EUNOE_KAFKA must be host:port" in done.stderr


@pytest.mark.parametrize("command", [[], ["diff"], ["apply"]])
def test_help_teaches(command: list[str]) -> None:
    """Each page of help has an example that can be run."""
    done = CliRunner().invoke(commands, ["topics", *command, "--help"])
    assert done.exit_code == 0
    assert "eunoe topics" in done.stdout.split("\n\n", 1)[1]

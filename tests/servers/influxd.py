"""InfluxDB 2.7.12 for tests: the real server, set up with one organisation, bucket and token."""

import http
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from tests.servers import binaries
from tests.servers.process import Server, ServerFailed

__all__ = ["Influxd", "running"]

ANSWER_S_MAX: Final = 10.0


class Influxd(Server):
    """One server.

    Args:
        folder: Of its data and log.

    Attributes:
        token: Opens everything.
        org: Its organisation.
        bucket: Its bucket.
    """

    name = "influxd"
    start_s_max = 30.0
    token: Final = "a-token-for-tests"  # noqa: S105 - of a server that lives as long as a test
    org: Final = "eunoe"
    bucket: Final = "eunoe"

    def __init__(self, folder: Path) -> None:
        self._program = binaries.built(binaries.influxd()) / "influxd"
        super().__init__(folder)

    @property
    def url(self) -> str:
        """Where it is, as clients take it."""
        return f"http://{self.address}"

    def start(self) -> Self:
        """Start it as any server; the first start on a folder sets it up."""
        super().start()
        try:
            self._set_up()
        except BaseException:
            self.kill()
            raise
        return self

    def _command(self) -> list[str]:
        data = self.folder / "data"
        bolt, sqlite = ["--bolt-path", str(data / "bolt")], ["--sqlite-path", str(data / "sqlite")]
        places = [*bolt, *sqlite, "--engine-path", str(data / "engine")]
        quiet = ["--reporting-disabled", "--log-level", "warn"]
        return [str(self._program), "--http-bind-address", self.address, *places, *quiet]

    def _answers(self) -> bool:
        try:
            return self._ask("GET", "/health")[0] == http.HTTPStatus.OK
        except OSError:  # nobody listens yet
            return False

    def _set_up(self) -> None:
        if not json.loads(self._ask("GET", "/api/v2/setup")[1])["allowed"]:
            return  # its folder has been set up
        wanted = {"username": "eunoe", "password": "a-password", "token": self.token}
        wanted |= {"org": self.org, "bucket": self.bucket}
        status, answer = self._ask("POST", "/api/v2/setup", json.dumps(wanted))
        if status != http.HTTPStatus.CREATED:
            message = f"influxd refuses to be set up: {answer}"
            raise ServerFailed(message)

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S_MAX)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@contextmanager
def running(folder: Path) -> Iterator[Influxd]:
    """Run a server on a folder, and end it whatever happens.

    Args:
        folder: As in `Influxd`.

    Yields:
        The server, which answers and is set up.

    Raises:
        MissingServer: It isn't built.
        ServerFailed: It doesn't start; the sentence holds the end of its log.
    """
    with Influxd(folder).session() as server:
        yield server

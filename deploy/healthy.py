"""Ask a worker in this container how it is; the exit code says it, the output says what is wrong.

Docker runs it as the health check: `docker inspect` shows the sentences.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Final

__all__ = ["main"]

PORT: Final = "9464"
TIMEOUT_S: Final = 5.0


def main() -> int:
    """Print how it is; returns 0 where it is well."""
    url = f"http://127.0.0.1:{os.environ.get('EUNOE_METRICS_PORT') or PORT}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        sys.stdout.write("\n".join(json.load(error)["troubles"]) + "\n")
        return 1
    except OSError as error:
        sys.stdout.write(f"{url} doesn't answer: {error}\n")
        return 1
    sys.stdout.write("healthy\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

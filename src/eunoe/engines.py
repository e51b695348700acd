"""What stands behind the façade: a folder's engines or a cluster's. For types alone."""

from typing import TypeAlias

from .following import Following
from .infra.cluster import ClusterEngines
from .infra.wiring import Engines
from .streams.consumer import Progress

__all__ = ["AnyEngines", "AnyProgress"]

AnyEngines: TypeAlias = Engines | ClusterEngines
AnyProgress: TypeAlias = Progress | Following

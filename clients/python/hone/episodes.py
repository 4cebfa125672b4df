"""Episodes of one module, as environments in honed."""

import grpc

from hone import client as hone_client


class Episodes:
    """Begins episodes at a module as it came.

    It keeps one environment at the start; episodes are forks of that, so they
    need no upload and share what honed remembers of their steps.

    opening: the OpenEnvironmentRequest
    """

    def __init__(self, client, opening):
        self._client = client
        self._opening = opening
        self._root = None

    def begin(self):
        """The ForkResponse of a new environment."""
        if self._root is not None:
            try:
                return self._client.fork(self._root)
            except hone_client.Error as error:
                # Expired, or honed was started anew.
                if error.code != grpc.StatusCode.NOT_FOUND:
                    raise
        self._root = self._client.open_environment(
            self._opening).environment.name
        return self._client.fork(self._root)

    def end(self, name):
        """Closes an environment; one that cannot be closed expires."""
        try:
            self._client.close_environment(name)
        except hone_client.Error:
            pass

    def close(self):
        if self._root is not None:
            self.end(self._root)
            self._root = None

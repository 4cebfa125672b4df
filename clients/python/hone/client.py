"""A connection to honed."""

import hashlib
import json
import os
import pathlib
import socket
import uuid

import grpc
import zstandard
from google.rpc import error_details_pb2, status_pb2

from hone.v1 import admin_service_pb2
from hone.v1 import admin_service_pb2_grpc
from hone.v1 import environment_service_pb2
from hone.v1 import environment_service_pb2_grpc
from hone.v1 import module_pb2
from hone.v1 import module_service_pb2
from hone.v1 import module_service_pb2_grpc

DEFAULT_SERVER = "127.0.0.1:7420"

_CHUNK_BYTES = 1 << 20
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# No answer of honed to a healthy client takes this long.
_TIMEOUT_SECONDS = 300

# Calls that are refused for the moment are repeated. Those that change something
# carry a request id, so that nothing is done twice.
_SERVICE_CONFIG = json.dumps({
    "methodConfig": [{
        "name": [{}],
        "retryPolicy": {
            "maxAttempts": 5,
            "initialBackoff": "0.1s",
            "maxBackoff": "2s",
            "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"],
        },
    }]
})


class Error(Exception):
    """A call failed.

    code:     grpc.StatusCode
    reason:   for programs: "EPISODE_ENDED", "MALFORMED_MODULE", …
    metadata: the values in the message, by name
    """

    def __init__(self, code, message, reason="", metadata=None):
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata = metadata or {}


def _error_info(details):
    info = error_details_pb2.ErrorInfo()
    for detail in details:
        if detail.Unpack(info):
            break
    return info


def error_of_status(status):
    """The Error of a google.rpc.Status, as batches have it."""
    info = _error_info(status.details)
    codes = {code.value[0]: code for code in grpc.StatusCode}
    return Error(codes[status.code], status.message, info.reason,
                 dict(info.metadata))


def _error_of_call(call):
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return error_of_status(status_pb2.Status.FromString(value))
    return Error(call.code(), call.details())


def read_module(module):
    """The bytes of a module: a path, or bytes; decompressed if need be."""
    if not isinstance(module, bytes):
        module = pathlib.Path(module).read_bytes()
    if module.startswith(_ZSTD_MAGIC):
        with zstandard.ZstdDecompressor().stream_reader(module) as reader:
            module = reader.read()
    return module


def _answers(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            return probe.connect_ex(address) == 0
        except OSError:  # the path is too long for a socket
            return False


def find_server():
    """The address of honed: the socket in this user's state folder, else
    127.0.0.1:7420 if honed answers there only."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        state = os.environ.get("HOME", "") + "/.local/state"
    path = state + "/hone/hone.sock"
    host, _, port = DEFAULT_SERVER.partition(":")
    if (not _answers(socket.AF_UNIX, path) and
            _answers(socket.AF_INET, (host, int(port)))):
        return DEFAULT_SERVER
    return "unix:" + path


def _is_local(server):
    return server.startswith(("unix:", "127.", "localhost:", "[::1]:"))


def _read(path):
    return pathlib.Path(path).read_bytes() if path else None


class Client:
    """Calls honed. Failures are raised as Error.

    server:     "HOST:PORT" or "unix:PATH"; by default that of the environment
                variable HONE_SERVER, else that of find_server()
    token_file: the file of the token; default: HONE_TOKEN_FILE
    tls_ca:     certificates (PEM) that sign honed's, which turn TLS on;
                default: HONE_TLS_CA
    tls_cert, tls_key: this client's certificate and key, if honed asks for one;
                default: HONE_TLS_CERT, HONE_TLS_KEY

    Raises ValueError for a token that would go to another machine without TLS.
    Safe to use from several threads, but not across a fork of the process: make
    a client in each.
    """

    def __init__(self, server=None, *, token_file=None, tls_ca=None,
                 tls_cert=None, tls_key=None):
        environment = os.environ.get
        self.server = server or environment("HONE_SERVER") or find_server()
        ca = _read(tls_ca or environment("HONE_TLS_CA"))
        token = _read(token_file or environment("HONE_TOKEN_FILE"))
        if token and not ca and not _is_local(self.server):
            raise ValueError(f"a token for {self.server} without tls_ca would "
                             "be sent in the clear, expected both")
        self._metadata = ((("authorization",
                            "Bearer " + token.decode().strip()),)
                          if token else None)
        options = [
            ("grpc.max_receive_message_length", -1),
            ("grpc.service_config", _SERVICE_CONFIG),
        ]
        if ca and not self.server.startswith("unix:"):
            credentials = grpc.ssl_channel_credentials(
                ca, _read(tls_key or environment("HONE_TLS_KEY")),
                _read(tls_cert or environment("HONE_TLS_CERT")))
            self._channel = grpc.secure_channel(self.server, credentials,
                                                options)
        else:
            self._channel = grpc.insecure_channel(self.server, options)
        self._admin = admin_service_pb2_grpc.AdminServiceStub(self._channel)
        self._environments = (
            environment_service_pb2_grpc.EnvironmentServiceStub(self._channel))
        self._modules = module_service_pb2_grpc.ModuleServiceStub(self._channel)
        self._info = None

    def close(self):
        """Ends the connection; environments live on until they expire."""
        self._channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _call(self, method, request):
        try:
            return method(request, timeout=_TIMEOUT_SECONDS,
                          metadata=self._metadata)
        except grpc.RpcError as error:
            raise _error_of_call(error) from None

    def info(self):
        """GetServerInfoResponse: version, passes, limits."""
        if self._info is None:
            self._info = self._call(self._admin.GetServerInfo,
                                    admin_service_pb2.GetServerInfoRequest())
        return self._info

    def module_source(self, module):
        """A module as requests name it; large ones are uploaded.

        module: a path or the bytes of HLO text or a serialized HloModuleProto,
        either of them compressed with zstd or not.
        """
        content = read_module(module)
        name = "" if isinstance(module, bytes) else os.fspath(module)
        if len(content) <= self.info().limits.max_inline_bytes:
            return module_pb2.ModuleSource(content=content, file_name=name)
        digest = hashlib.sha256(content).hexdigest()

        def parts():
            header = module_service_pb2.UploadRequest.Header(
                digest=digest, size_bytes=len(content))
            yield module_service_pb2.UploadRequest(header=header)
            for at in range(0, len(content), _CHUNK_BYTES):
                yield module_service_pb2.UploadRequest(
                    chunk=content[at:at + _CHUNK_BYTES])

        self._call(self._modules.Upload, parts())
        return module_pb2.ModuleSource(digest=digest, file_name=name)

    # The methods of EnvironmentService. Requests and responses are its
    # messages: proto/hone/v1/environment_service.proto.

    def get_spaces(self):
        return self._call(self._environments.GetSpaces,
                          environment_service_pb2.GetSpacesRequest())

    def open_environment(self, request):
        named = environment_service_pb2.OpenEnvironmentRequest()
        named.CopyFrom(request)
        named.request_id = named.request_id or str(uuid.uuid4())
        return self._call(self._environments.OpenEnvironment, named)

    def step(self, request):
        return self._call(self._environments.Step, request)

    def step_batch(self, requests):
        """A StepResponse or an Error for each StepRequest."""
        batch = environment_service_pb2.StepBatchRequest(requests=requests)
        results = self._call(self._environments.StepBatch, batch).results
        return [
            error_of_status(result.error)
            if result.HasField("error") else result.response
            for result in results
        ]

    def fork(self, name):
        return self._call(
            self._environments.Fork,
            environment_service_pb2.ForkRequest(name=name,
                                                request_id=str(uuid.uuid4())))

    def close_environment(self, name):
        self._call(self._environments.Close,
                   environment_service_pb2.CloseRequest(name=name))

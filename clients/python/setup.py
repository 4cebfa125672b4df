"""Generates the stubs of proto/hone while the package is built."""

import pathlib
from importlib import metadata

import setuptools
from setuptools.command import build_py

PROTO_ROOT = pathlib.Path(__file__).resolve().parents[2] / "proto"
# Every proto of our own. Those of google/ come with googleapis-common-protos.
PROTOS = sorted(str(path.relative_to(PROTO_ROOT))
                for path in PROTO_ROOT.glob("hone/**/*.proto"))


class BuildWithStubs(build_py.build_py):
    def run(self):
        super().run()
        # Only here: setuptools also runs this file to ask what it requires.
        from grpc_tools import protoc

        if not PROTOS:
            raise SystemExit(f"no protos in {PROTO_ROOT}, expected Hone's "
                             "source tree around this package")
        well_known = pathlib.Path(protoc.__file__).parent / "_proto"
        arguments = ["protoc", f"-I{PROTO_ROOT}", f"-I{well_known}",
                     f"--python_out={self.build_lib}",
                     f"--grpc_python_out={self.build_lib}", *PROTOS]
        if protoc.main(arguments) != 0:
            raise SystemExit("protoc failed")


setuptools.setup(
    cmdclass={"build_py": BuildWithStubs},
    install_requires=[
        "googleapis-common-protos>=1.60",
        # Stubs do not run with older libraries than they were made for.
        f"grpcio>={metadata.version('grpcio-tools')}",
        f"protobuf>={metadata.version('protobuf')}",
        "gymnasium>=1.0",
        "numpy>=1.26",
        "zstandard>=0.22",
    ],
)

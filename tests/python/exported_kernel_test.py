"""Exported shared objects, called through ctypes and through XLA's FFI.

Usage: exported_kernel_test.py HONE [unittest arguments]
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

HONE = pathlib.Path(sys.argv[1])

MODULE = """HloModule scaled_sums

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[5,37] parameter(0)
  scale = bf16[] parameter(1)
  wide = f32[] convert(scale)
  scales = f32[5,37] broadcast(wide), dimensions={}
  scaled = f32[5,37] multiply(x, scales)
  zero = f32[] constant(0)
  sums = f32[5] reduce(scaled, zero), dimensions={1}, to_apply=add
  turned = f32[5,37] reverse(scaled), dimensions={1}
  ROOT both = (f32[5], f32[5,37]) tuple(sums, turned)
}
"""

# Array types of the results of a call through the FFI.
RESULTS = (jax.ShapeDtypeStruct((5,), jnp.float32),
           jax.ShapeDtypeStruct((5, 37), jnp.float32))


class Info(ctypes.Structure):
    """The beginning of hone_info."""
    _fields_ = [("struct_size", ctypes.c_uint32),
                ("abi_version", ctypes.c_uint32),
                ("name", ctypes.c_char_p),
                ("hone_version", ctypes.c_char_p),
                ("num_arguments", ctypes.c_int32),
                ("num_results", ctypes.c_int32)]


class ExportedKernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "m.hlo")
            source.write_text(MODULE)
            path = pathlib.Path(folder, "scaled-sums.so")
            subprocess.run([HONE, "run", source, "--target", "cpu", "--export",
                            path], check=True)
            cls.library = ctypes.CDLL(str(path))
        cls.library.scaled_sums_error_message.restype = ctypes.c_char_p
        jax.ffi.register_ffi_target(
            "scaled_sums", jax.ffi.pycapsule(cls.library.scaled_sums_ffi),
            platform="cpu")

    def setUp(self):
        self.x = np.arange(5 * 37, dtype=np.float32).reshape(5, 37)
        self.scale = jnp.array(0.5, jnp.bfloat16)

    def test_info_is_read_by_ctypes(self):
        self.library.scaled_sums_info.restype = ctypes.POINTER(Info)
        info = self.library.scaled_sums_info().contents
        self.assertEqual(info.abi_version, 2)
        self.assertEqual(info.name, b"scaled_sums")
        self.assertEqual((info.num_arguments, info.num_results), (2, 2))

    def test_errors_are_reported_through_ctypes(self):
        pointers = ctypes.c_void_p * 2
        sums = np.full(5, 7, np.float32)
        results = pointers(sums.ctypes.data, None)
        arguments = pointers(self.x.ctypes.data, self.x.ctypes.data)
        self.assertEqual(
            self.library.scaled_sums(None, arguments, results), 4)
        self.assertEqual(self.library.scaled_sums_error_message(),
                         b"results[1] is null, expected 740 bytes")
        self.assertTrue((sums == 7).all())

    def test_xla_calls_it(self):
        def function(x, scale):
            sums, turned = jax.ffi.ffi_call("scaled_sums", RESULTS)(
                x * 2, scale)
            return sums + 1, turned

        for call in (function, jax.jit(function)):
            sums, turned = call(self.x, self.scale)
            np.testing.assert_allclose(sums, self.x.sum(axis=1) + 1, rtol=1e-6)
            np.testing.assert_array_equal(turned, self.x[:, ::-1])

    def expect_error(self, message, results, *arguments):
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, message):
            jax.block_until_ready(
                jax.ffi.ffi_call("scaled_sums", results)(*arguments))

    def test_xla_reports_other_shapes(self):
        self.expect_error(r"INVALID_ARGUMENT.*argument 0 has another type or "
                          r"shape than f32\[5,37\]",
                          RESULTS, self.x[:4], self.scale)
        self.expect_error("argument 0 has another type or shape", RESULTS,
                          self.x.astype(np.int32), self.scale)
        self.expect_error(r"argument 1 has another type or shape than bf16\[\]",
                          RESULTS, self.x, self.scale.reshape(1))
        self.expect_error(r"result 1 has another type or shape", (
            RESULTS[0], jax.ShapeDtypeStruct((5, 37), jnp.int32)),
                          self.x, self.scale)
        self.expect_error("1 arguments, expected 2", RESULTS, self.x)
        self.expect_error("1 results, expected 2", RESULTS[:1], self.x,
                          self.scale)

    def test_xla_reports_aliases(self):
        # XLA puts result 1 into the memory of argument 0.
        call = jax.ffi.ffi_call("scaled_sums", RESULTS,
                                input_output_aliases={0: 1})
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError,
                                    r"results\[1\] overlaps arguments\[0\]"):
            jax.block_until_ready(jax.jit(
                lambda x, scale: call(x * 2, scale))(self.x, self.scale))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

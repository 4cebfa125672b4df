"""Arguments of kernels and programs: shapes, types and values like those of
use."""

import dataclasses
import math

import ml_dtypes
import numpy as np

TYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16,
         "f16": np.float16, "c64": np.complex64, "s32": np.int32,
         "s8": np.int8, "u8": np.uint8, "u32": np.uint32, "pred": np.bool_}
# "normal": times `scale`.
# "near one": normal, with a hundredth of the spread around 1.
# "positive": the absolute values of normals, times `scale`, and a little.
# "index": integers, uniform in [0, bound).
# "sorted index": the same, in order.
# "zipf": integers in [0, bound), of which small ones are common, as tokens are.
# "bytes": integers over the whole range of the type.
# "coin": one of two values, the second in `scale` of all places.
# "value": `bound` everywhere.
FILLS = ("normal", "near one", "positive", "index", "sorted index", "zipf",
         "bytes", "coin", "value")


@dataclasses.dataclass(frozen=True)
class Argument:
    shape: tuple[int, ...]
    type: str = "f32"
    fill: str = "normal"
    scale: float = 1.0
    bound: int = 0

    def make(self, rng):
        """Returns an array of values that depend on the state of `rng`."""
        value = np.asarray(getattr(self, "_" + self.fill.replace(" ", "_"))(
            rng))
        return value.astype(TYPES[self.type])

    def _normal(self, rng):
        value = rng.standard_normal(self.shape, np.float32)
        if self.type == "c64":
            value = value + 1j * rng.standard_normal(self.shape, np.float32)
        return value * np.float32(self.scale)

    def _near_one(self, rng):
        return 1 + 0.01 * self._normal(rng)

    def _positive(self, rng):
        return np.abs(self._normal(rng)) + 1e-3

    def _index(self, rng):
        return rng.integers(0, self.bound, self.shape)

    def _sorted_index(self, rng):
        return np.sort(self._index(rng), axis=-1)

    def _zipf(self, rng):
        # The logarithm of a rank is about uniform.
        shares = rng.random(self.shape)
        return np.exp(shares * math.log(self.bound)).astype(np.int64) - 1

    def _bytes(self, rng):
        limits = np.iinfo(TYPES[self.type])
        return rng.integers(limits.min, limits.max, self.shape, endpoint=True)

    def _coin(self, rng):
        return rng.random(self.shape) < self.scale

    def _value(self, rng):
        return np.full(self.shape, self.bound)

    def as_dict(self):
        return dataclasses.asdict(self)


def from_dict(fields):
    """Returns the Argument of which as_dict made `fields`."""
    return Argument(**fields | {"shape": tuple(fields["shape"])})

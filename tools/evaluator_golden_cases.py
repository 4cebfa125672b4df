"""The modules of make_evaluator_goldens.py, by family.

families(types) returns {family: [Case]}; `types` maps HLO element types to
numpy's. Modules are written out or made from short tables, one line per odd
case; inputs are seeded or given.
"""

import dataclasses
import re
import zlib

import numpy as np

from evaluator_golden_linear_algebra import lapack, linear_algebra


@dataclasses.dataclass
class Case:
    name: str
    text: str
    inputs: list


FLOATS = ("f32", "f64", "bf16", "f16")
INTEGERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")
COMPLEX = ("c64", "c128")
SPECIAL_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.1, -0.3, 3.25,
    -7.75, 1e-3, -1e-3, 20.0, -20.0, 90.0, -90.0, 1000.0, 1e-30, 1e30,
    np.inf, -np.inf, np.nan,
]  # fmt: skip
REGIONS = {
    op: f"region_{op} {{\n  a = TYPE[] parameter(0)\n"
    f"  b = TYPE[] parameter(1)\n  ROOT r = TYPE[] {op}(a, b)\n}}\n"
    for op in ("add", "multiply", "maximum", "minimum", "and", "or",
               "subtract")
}  # fmt: skip


def region(op, element_type="f32"):
    return REGIONS[op].replace("TYPE", element_type)


def compare_region(name, direction, element_type="f32"):
    return (
        f"{name} {{\n  a = {element_type}[] parameter(0)\n"
        f"  b = {element_type}[] parameter(1)\n"
        f"  ROOT r = pred[] compare(a, b), direction={direction}\n}}\n"
    )


class Maker:
    """Makes the cases of one family."""

    def __init__(self, types):
        self.types = types
        self.cases = []

    def dtype(self, element_type):
        return np.dtype(self.types[element_type])

    def random(self, shape, rng, low=-3, high=3):
        element_type, dimensions = re.match(r"(\w+)\[(.*)\]", shape).groups()
        size = [int(d) for d in dimensions.split(",") if d]
        dtype = self.dtype(element_type)
        if dtype == np.bool_:
            return rng.random(size) < 0.5
        if np.issubdtype(dtype, np.integer):
            if np.issubdtype(dtype, np.unsignedinteger):
                low, high = 0, 2 * high
            return rng.integers(low, high, size, endpoint=True).astype(dtype)
        values = rng.normal(size=size)
        if np.issubdtype(dtype, np.complexfloating):
            values = values + 1j * rng.normal(size=size)
        return np.asarray(values).astype(dtype)

    def add(self, name, parameters, body, regions="", inputs=None):
        """`parameters`: shapes, named p0, p1, … in the body."""
        lines = [f"  p{i} = {shape} parameter({i})"
                 for i, shape in enumerate(parameters)]
        lines += ["  " + line.strip() for line in body.strip().split("\n")]
        text = (f"HloModule m\n\n{regions}\nENTRY main {{\n" +
                "\n".join(lines) + "\n}\n")
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        arrays = [self.random(shape, rng) for shape in parameters]
        for i, array in (inputs or {}).items():
            arrays[i] = np.asarray(array).astype(arrays[i].dtype).reshape(
                arrays[i].shape)
        self.cases.append(Case(name, text, arrays))

    def each(self, name, parameters, results, inputs=None):
        """A module whose root is a tuple of `results`: "SHAPE EXPRESSION"."""
        lines = ["r{} = {} {}".format(i, *result.split(" ", 1))
                 for i, result in enumerate(results)]
        shapes = ", ".join(r.split(" ", 1)[0] for r in results)
        names = ", ".join(f"r{i}" for i in range(len(results)))
        lines.append(f"ROOT all = ({shapes}) tuple({names})")
        self.add(name, parameters, "\n".join(lines), inputs=inputs)


def unary(m):
    n = len(SPECIAL_FLOATS)
    for t in FLOATS:
        s = f"{t}[{n}]"
        m.each(
            f"unary_{t}",
            [s],
            [f"{s} {op}(p0)" for op in (
                "abs", "cbrt", "ceil", "cosine", "erf", "exponential",
                "exponential-minus-one", "floor", "log", "log-plus-one",
                "logistic", "negate", "round-nearest-afz",
                "round-nearest-even", "rsqrt", "sign", "sine", "sqrt", "tan",
                "tanh")] + [f"pred[{n}] is-finite(p0)"],
            inputs={0: [x if abs(x) < 60000 or t != "f16" else 60000
                        for x in SPECIAL_FLOATS]},
        )  # fmt: skip
    for t in INTEGERS:
        s = f"{t}[8]"
        limits = np.iinfo(m.dtype(t))
        values = [0, 1, 2, 3, 100, limits.max, limits.min, limits.max - 1]
        ops = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"]
        if t.startswith("u"):
            ops = ops[3:]
        m.each(f"unary_{t}", [s], [f"{s} {op}(p0)" for op in ops],
               inputs={0: values})
    m.each("unary_pred", ["pred[4]"], ["pred[4] not(p0)"])
    for t, part in zip(COMPLEX, ("f32", "f64")):
        s = f"{t}[6]"
        m.each(
            f"unary_{t}",
            [s],
            [f"{s} {op}(p0)" for op in (
                "cosine", "exponential", "exponential-minus-one", "log",
                "log-plus-one", "negate", "rsqrt", "sign", "sine", "sqrt",
                "tanh")]
            + [f"{part}[6] {op}(p0)" for op in ("abs", "real", "imag")],
        )  # fmt: skip


def binary(m):
    xs = [0.0, -0.0, 1.0, -1.5, 2.0, -3.0, 0.25, 7.5, 1e10, np.inf, -np.inf,
          np.nan]  # fmt: skip
    pairs = [(a, b) for a in xs for b in xs]
    for t in FLOATS:
        s = f"{t}[{len(pairs)}]"
        m.each(
            f"binary_{t}",
            [s, s],
            [f"{s} {op}(p0, p1)" for op in (
                "add", "subtract", "multiply", "divide", "remainder", "power",
                "maximum", "minimum", "atan2")],
            inputs={0: [min(a, 60000) if t == "f16" and np.isfinite(a) else a
                        for a, _ in pairs],
                    1: [min(b, 60000) if t == "f16" and np.isfinite(b) else b
                        for _, b in pairs]},
        )  # fmt: skip
    for t in INTEGERS:
        limits = np.iinfo(m.dtype(t))
        values = [0, 1, 2, 3, 7, 8, 31, 64, limits.max, limits.min]
        if not t.startswith("u"):
            values += [-1, -2, -7]
        s = f"{t}[{len(values) ** 2}]"
        m.each(
            f"binary_{t}",
            [s, s],
            [f"{s} {op}(p0, p1)" for op in (
                "add", "subtract", "multiply", "divide", "remainder",
                "maximum", "minimum", "and", "or", "xor", "shift-left",
                "shift-right-arithmetic", "shift-right-logical")],
            inputs={0: np.repeat(np.array(values, m.dtype(t)), len(values)),
                    1: np.tile(np.array(values, m.dtype(t)), len(values))},
        )  # fmt: skip
        # XLA:CPU reads the low six bits of an exponent only; its constant
        # folding and Hone read all.
        exponents = [0, 1, 2, 3, 7, 31, 63] + (
            [-1, -2, -7] if not t.startswith("u") else [])
        s = f"{t}[{len(values) * len(exponents)}]"
        m.each(f"power_{t}", [s, s], [f"{s} power(p0, p1)"],
               inputs={0: np.repeat(np.array(values, m.dtype(t)),
                                    len(exponents)),
                       1: np.tile(exponents, len(values))})
    m.each(
        "binary_pred",
        ["pred[4]", "pred[4]"],
        [f"pred[4] {op}(p0, p1)" for op in (
            "and", "or", "xor", "add", "multiply", "maximum", "minimum")],
        inputs={0: [0, 0, 1, 1], 1: [0, 1, 0, 1]},
    )  # fmt: skip
    for t, part in zip(COMPLEX, ("f32", "f64")):
        s = f"{t}[6]"
        m.each(f"binary_{t}", [s, s, f"{part}[6]", f"{part}[6]"],
               [f"{s} {op}(p0, p1)" for op in (
                   "add", "subtract", "multiply", "divide", "power")]
               + [f"{s} complex(p2, p3)"])


def compare(m):
    directions = ("EQ", "NE", "GE", "GT", "LE", "LT")
    xs = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan]
    n = len(xs) ** 2
    for t in FLOATS:
        m.each(
            f"compare_{t}",
            [f"{t}[{n}]"] * 2,
            [f"pred[{n}] compare(p0, p1), direction={d}{order}"
             for d in directions for order in ("", ", type=TOTALORDER")],
            inputs={0: np.repeat(xs, len(xs)), 1: np.tile(xs, len(xs))},
        )
    for t in INTEGERS + ("pred",):
        m.each(f"compare_{t}", [f"{t}[9]"] * 2,
               [f"pred[9] compare(p0, p1), direction={d}" for d in directions],
               inputs={0: [0, 0, 0, 1, 1, 1, 2, 2, 2],
                       1: [0, 1, 2, 0, 1, 2, 0, 1, 2]})
    m.each("compare_c64", ["c64[5]", "c64[5]"],
           [f"pred[5] compare(p0, p1), direction={d}" for d in ("EQ", "NE")])
    for t in ("f32", "bf16", "s32", "pred", "c64", "u8"):
        m.each(f"select_{t}", ["pred[6]", f"{t}[6]", f"{t}[6]", "pred[]"],
               [f"{t}[6] select(p0, p1, p2)", f"{t}[6] select(p3, p1, p2)"])
    for t in ("f32", "f64", "s32", "u8", "bf16"):
        m.each(f"clamp_{t}", [f"{t}[5]", f"{t}[]", f"{t}[]", f"{t}[5]"],
               [f"{t}[5] clamp(p1, p0, p2)", f"{t}[5] clamp(p0, p3, p3)"],
               inputs={1: 0, 2: 1} if t == "u8" else {1: -1, 2: 1})
    m.each("clamp_nan", ["f32[5]", "f32[]", "f32[]"],
           ["f32[5] clamp(p1, p0, p2)"],
           inputs={0: [np.nan, np.inf, -np.inf, 0.5, 2], 1: -1, 2: 1})


def convert(m):
    values = [0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 100.7, -100.7, 300.0, -300.0,
              70000.0, -70000.0, 3e9, -3e9, 1e19, -1e19, 3e38, np.inf,
              -np.inf, np.nan]  # fmt: skip
    everything = FLOATS + INTEGERS + ("pred",)
    for t in FLOATS:
        n = len(values)
        m.each(f"convert_from_{t}", [f"{t}[{n}]"],
               [f"{to}[{n}] convert(p0)"
                for to in everything + ("c64", "f8e5m2", "f8e4m3fn")],
               inputs={0: values})
    for t in INTEGERS:
        limits = np.iinfo(m.dtype(t))
        m.each(f"convert_from_{t}", [f"{t}[5]"],
               [f"{to}[5] convert(p0)" for to in everything + ("c128",)],
               inputs={0: np.array([0, 1, 100, limits.max, limits.min],
                                   m.dtype(t))})
    m.each("convert_from_pred", ["pred[2]"],
           [f"{to}[2] convert(p0)" for to in everything],
           inputs={0: [0, 1]})
    m.each("convert_from_f8", ["f8e4m3fn[12]", "f8e5m2[12]"],
           ["f32[12] convert(p0)", "bf16[12] convert(p1)",
            "f8e5m2[12] convert(p0)"])
    m.each("reduce_precision", ["f32[12]", "f64[6]"],
           ["f32[12] reduce-precision(p0), exponent_bits=5, mantissa_bits=10",
            "f32[12] reduce-precision(p0), exponent_bits=8, mantissa_bits=7",
            "f32[12] reduce-precision(p0), exponent_bits=4, mantissa_bits=23",
            "f64[6] reduce-precision(p1), exponent_bits=5, mantissa_bits=3"],
           inputs={0: [0.1, -1.3, 65519, 65520, 1e-5, 300, 1e-9, np.inf,
                       np.nan, 3.14159, -0.0, 255.9]})
    m.each("bitcast_convert", ["f32[3]", "u32[3]", "u8[2,4]", "u32[2]"],
           ["s32[3] bitcast-convert(p0)", "f32[3] bitcast-convert(p1)",
            "u32[2] bitcast-convert(p2)", "u8[2,4] bitcast-convert(p3)",
            "u16[2,2] bitcast-convert(p3)"])


def movement(m):
    for t in ("f32", "bf16", "pred", "c128", "s8", "s64"):
        m.each(
            f"movement_{t}",
            [f"{t}[2,3,4]", f"{t}[]", f"{t}[3]"],
            [f"{t}[4,2,3] transpose(p0), dimensions={{2,0,1}}",
             f"{t}[3,2,4] transpose(p0), dimensions={{1,0,2}}",
             f"{t}[4,6] reshape(p0)",
             f"{t}[2,3,4] reverse(p0), dimensions={{0,2}}",
             f"{t}[1,2,2] slice(p0), slice={{[1:2], [0:3:2], [1:4:2]}}",
             f"{t}[2,3,2] broadcast(p2), dimensions={{1}}",
             f"{t}[2,5] broadcast(p1), dimensions={{}}",
             f"{t}[3,7,3] pad(p0, p1), padding=1_0x-1_5x0_-1",
             f"{t}[2,5,10] pad(p0, p1), padding=0_0x0_0_1x0_0_2",
             f"{t}[2,6,8] pad(p0, p1), padding=0_0x2_-1_1x-1_2_1",
             f"{t}[2,6,4] concatenate(p0, p0), dimensions={{1}}",
             f"{t}[2,3,8] concatenate(p0, p0), dimensions={{2}}"],
        )
    for t in ("f32", "bf16", "s32", "u8", "c64"):
        m.each(f"iota_{t}", [], [f"{t}[4] iota(), iota_dimension=0",
                                 f"{t}[2,3] iota(), iota_dimension=1",
                                 f"{t}[3,2] iota(), iota_dimension=0"])
    for t in ("s32", "u32", "s64", "u8"):
        for name, start in (("inside", 1), ("high", 100), ("low", -3)):
            if t.startswith("u") and start < 0:
                continue
            m.each(
                f"dynamic_{t}_{name}",
                ["f32[3,5]", f"{t}[]", f"{t}[]", "f32[2,2]"],
                ["f32[2,3] dynamic-slice(p0, p1, p2), "
                 "dynamic_slice_sizes={2,3}",
                 "f32[3,5] dynamic-update-slice(p0, p3, p1, p2)"],
                inputs={1: start, 2: start},
            )
    m.each("movement_empty", ["f32[0,3]", "f32[2,3]"],
           ["f32[3,0] transpose(p0), dimensions={1,0}",
            "f32[2,3] concatenate(p0, p1), dimensions={0}",
            "f32[0,2] slice(p1), slice={[1:1], [0:2]}"])
    m.each("get_dimension_size", ["f32[4,7]"],
           ["s32[] get-dimension-size(p0), dimensions={1}"])
    m.add("tuples", ["f32[2]", "s32[]"], """
        t = (f32[2], s32[]) tuple(p0, p1)
        u = ((f32[2], s32[]), f32[2]) tuple(t, p0)
        v = (f32[2], s32[]) get-tuple-element(u), index=0
        w = s32[] get-tuple-element(v), index=1
        c = f32[2] copy(p0)
        ROOT r = (s32[], f32[2]) tuple(w, c)""")
    m.add("opt_barrier", ["f32[2]", "s32[]"], """
        t = (f32[2], s32[]) tuple(p0, p1)
        b = (f32[2], s32[]) opt-barrier(t)
        ROOT r = f32[2] get-tuple-element(b), index=0""")


def dot(m):
    for t in FLOATS + ("s32", "c64", "c128", "u8"):
        m.each(f"dot_{t}", [f"{t}[3,4]", f"{t}[4,5]", f"{t}[5,4]", f"{t}[4]"], [
            f"{t}[3,5] dot(p0, p1), lhs_contracting_dims={{1}}, "
            "rhs_contracting_dims={0}",
            f"{t}[3,5] dot(p0, p2), lhs_contracting_dims={{1}}, "
            "rhs_contracting_dims={1}",
            f"{t}[5,3] dot(p1, p0), lhs_contracting_dims={{0}}, "
            "rhs_contracting_dims={1}",
            f"{t}[3] dot(p0, p3), lhs_contracting_dims={{1}}, "
            "rhs_contracting_dims={0}",
            f"{t}[] dot(p3, p3), lhs_contracting_dims={{0}}, "
            "rhs_contracting_dims={0}",
        ])
    m.each("dot_mixed", ["bf16[3,4]", "bf16[4,2]", "s8[3,4]", "s8[4,2]"], [
        "f32[3,2] dot(p0, p1), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}",
        "s32[3,2] dot(p2, p3), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}"])
    odd = {
        "batch": ("2,3,4", "2,4,5", "2,3,5", "{0}", "{0}", "{2}", "{1}"),
        "attention": ("2,3,4,5", "2,6,4,5", "2,4,3,6", "{0,2}", "{0,2}",
                      "{3}", "{3}"),
        "middle_batch": ("3,2,4", "4,5,2", "2,3,5", "{1}", "{2}", "{2}",
                         "{0}"),
        "two_contracting": ("3,4,5", "4,5,2", "3,2", "{}", "{}", "{1,2}",
                            "{0,1}"),
        "swapped_contracting": ("3,4,5", "5,4,2", "3,2", "{}", "{}", "{2,1}",
                                "{0,1}"),
        "outer": ("3,2", "4", "3,2,4", "{}", "{}", "{}", "{}"),
        "no_free": ("2,4", "2,4", "2", "{0}", "{0}", "{1}", "{1}"),
        "empty_contracting": ("3,0", "0,2", "3,2", "{}", "{}", "{1}", "{0}"),
        "two_free": ("2,3,4", "5,4,6", "2,3,5,6", "{}", "{}", "{2}", "{1}"),
        "split_free": ("2,4,3", "4,5", "2,3,5", "{}", "{}", "{1}", "{0}"),
        "batch_order": ("2,3,4,5", "3,2,5,6", "3,2,4,6", "{1,0}", "{0,1}",
                        "{3}", "{2}"),
    }
    for name, (a, b, out, lb, rb, lc, rc) in odd.items():
        m.add(f"dot_{name}", [f"f32[{a}]", f"f32[{b}]"],
              f"ROOT r = f32[{out}] dot(p0, p1), lhs_batch_dims={lb}, "
              f"rhs_batch_dims={rb}, lhs_contracting_dims={lc}, "
              f"rhs_contracting_dims={rc}")


def convolution(m):
    odd = {
        # name: (input, kernel, output, window, labels, more)
        "same": ("1,5,5,2", "3,3,2,4", "1,5,5,4", "size=3x3 pad=1_1x1_1",
                 "b01f_01io->b01f", ""),
        "stride": ("2,6,7,3", "3,2,3,2", "2,3,3,2",
                   "size=3x2 stride=2x2 pad=0_1x0_0", "b01f_01io->b01f", ""),
        "nchw": ("2,3,6,6", "4,3,3,3", "2,4,4,4", "size=3x3",
                 "bf01_oi01->bf01", ""),
        "pointwise": ("2,4,4,3", "1,1,3,5", "2,4,4,5", "size=1x1",
                      "b01f_01io->b01f", ""),
        "pointwise_stride": ("2,4,4,3", "1,1,3,5", "2,2,2,5",
                             "size=1x1 stride=2x2", "b01f_01io->b01f", ""),
        "lhs_dilate": ("1,3,3,2", "3,3,4,2", "1,6,6,4",
                       "size=3x3 pad=2_1x2_1 lhs_dilate=2x2",
                       "b01f_01oi->b01f", ""),
        "rhs_dilate": ("1,9,9,2", "3,3,2,2", "1,5,5,2",
                       "size=3x3 rhs_dilate=2x2", "b01f_01io->b01f", ""),
        "reversal": ("1,5,5,2", "3,3,2,3", "1,3,3,3",
                     "size=3x3 rhs_reversal=1x1", "b01f_01io->b01f", ""),
        "negative_pad": ("1,7,7,1", "3,3,1,2", "1,3,4,2",
                         "size=3x3 pad=-1_-1x-1_0", "b01f_01io->b01f", ""),
        "depthwise": ("2,5,5,6", "3,3,1,6", "2,5,5,6",
                      "size=3x3 pad=1_1x1_1", "b01f_01io->b01f",
                      ", feature_group_count=6"),
        "depthwise_stride": ("2,5,5,6", "3,3,1,12", "2,3,3,12",
                             "size=3x3 stride=2x2 pad=1_1x1_1",
                             "b01f_01io->b01f", ", feature_group_count=6"),
        "feature_groups": ("2,5,5,6", "3,3,3,8", "2,3,3,8", "size=3x3",
                           "b01f_01io->b01f", ", feature_group_count=2"),
        "batch_groups": ("6,5,5,2", "4,4,2,6", "1,2,2,6", "size=4x4",
                         "b01f_01io->b01f", ", batch_group_count=6"),
        "batch_groups_wide": ("4,5,5,3", "3,3,3,8", "2,3,3,8", "size=3x3",
                              "b01f_01io->b01f", ", batch_group_count=2"),
        "weight_gradient": ("2,6,6,3", "2,6,6,4", "3,3,3,4",
                            "size=6x6 pad=1_1x1_1", "f01b_i01o->01bf", ""),
        "weight_gradient_stride": ("2,7,7,3", "2,4,4,4", "3,3,3,4",
                                   "size=4x4 pad=1_1x1_1 rhs_dilate=2x2",
                                   "f01b_i01o->01bf", ""),
        "one_d": ("2,8,3", "3,3,4", "2,6,4", "size=3", "b0f_0io->b0f", ""),
        "causal": ("2,8,3", "2,3,4", "2,8,4", "size=2 pad=4_0 rhs_dilate=4",
                   "b0f_0io->b0f", ""),
        "three_d": ("1,4,4,4,2", "2,2,2,2,3", "1,3,3,3,3", "size=2x2x2",
                    "b012f_012io->b012f", ""),
        "no_spatial": ("3,4", "4,5", "3,5", "", "bf_io->bf", ""),
        "odd_labels": ("5,6,3,2", "3,2,2,4", "3,5,3,4", "size=3x2",
                       "01bf_0i1o->01bf", ""),
    }
    for name, (a, b, out, window, labels, more) in odd.items():
        window = f"window={{{window}}}, " if window else ""
        shapes = [f"f32[{a}]", f"f32[{b}]"]
        text = (f"ROOT r = f32[{out}] convolution(p0, p1), {window}"
                f"dim_labels={labels}{more}")
        m.add(f"convolution_{name}", shapes, text)
        # Padding and holes that count as zeros give NaN with infinities.
        if name in ("same", "lhs_dilate", "depthwise", "depthwise_stride"):
            kernel = np.ones([int(d) for d in b.split(",")])
            kernel[0, 0] = np.inf
            m.add(f"convolution_{name}_infinite", shapes, text,
                  inputs={1: kernel})
    for t in ("f64", "bf16", "f16"):
        m.add(f"convolution_{t}", [f"{t}[1,5,5,2]", f"{t}[3,3,2,4]"],
              f"ROOT r = {t}[1,3,3,4] convolution(p0, p1), "
              "window={size=3x3}, dim_labels=b01f_01io->b01f")


def reduce(m):
    for t in FLOATS + INTEGERS + ("pred",):
        ops = ("add", "multiply", "maximum", "minimum")
        if t not in FLOATS:
            ops += ("and", "or")
        for op in ops if t in ("f32", "s32", "pred") else ops[:1] + ops[2:3]:
            m.add(f"reduce_{op}_{t}", [f"{t}[3,4,5]", f"{t}[]"], f"""
                a = {t}[3,4] reduce(p0, p1), dimensions={{2}}, to_apply=region_{op}
                b = {t}[4,5] reduce(p0, p1), dimensions={{0}}, to_apply=region_{op}
                c = {t}[4] reduce(p0, p1), dimensions={{0,2}}, to_apply=region_{op}
                d = {t}[3,5] reduce(p0, p1), dimensions={{1}}, to_apply=region_{op}
                e = {t}[] reduce(p0, p1), dimensions={{0,1,2}}, to_apply=region_{op}
                ROOT r = ({t}[3,4], {t}[4,5], {t}[4], {t}[3,5], {t}[]) tuple(a, b, c, d, e)""",
                region(op, t))
    m.add("reduce_long", ["f32[7,300]", "f32[]"], """
        a = f32[7] reduce(p0, p1), dimensions={1}, to_apply=region_add
        b = f32[300] reduce(p0, p1), dimensions={0}, to_apply=region_add
        ROOT r = (f32[7], f32[300]) tuple(a, b)""", region("add"),
          inputs={1: 0})
    m.add("reduce_maximum_nan", ["f32[2,40]", "f32[]"], """
        ROOT a = f32[2] reduce(p0, p1), dimensions={1}, to_apply=region_maximum""",
          region("maximum"),
          inputs={0: [np.nan] + [1.0] * 79, 1: -np.inf})
    m.add("reduce_empty", ["f32[3,0]", "f32[]"],
          "ROOT a = f32[3] reduce(p0, p1), dimensions={1}, to_apply=region_add",
          region("add"))
    arg_max = """arg_max {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GT
  ne = pred[] compare(a, a), direction=NE
  keep = pred[] or(gt, ne)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  first = pred[] or(keep, tie)
  v = f32[] select(keep, a, b)
  k = s32[] select(first, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
"""
    m.add("reduce_arg_max", ["f32[4,6]", "f32[]", "s32[]"], """
        i = s32[4,6] iota(), iota_dimension=1
        ROOT a = (f32[4], s32[4]) reduce(p0, i, p1, p2), dimensions={1}, to_apply=arg_max""",
          arg_max, inputs={1: -np.inf, 2: 0})
    two_steps = """two_steps {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] constant(0)
  d = f32[] add(a, c)
  ROOT r = f32[] add(d, b)
}
"""
    m.add("reduce_two_steps", ["f32[4]", "f32[]"],
          "ROOT a = f32[] reduce(p0, p1), dimensions={0}, to_apply=two_steps",
          two_steps)


def windows(m):
    odd = {
        "pool": ("2,5,6,3", "2,2,3,3", "size=1x3x2x1 stride=1x2x2x1"),
        "same": ("1,4,4,2", "1,4,4,2", "size=1x3x3x1 pad=0_0x1_1x1_1x0_0"),
        "dilated": ("9", "3", "size=3 stride=2 rhs_dilate=2"),
        "base_dilated": ("4", "7", "size=2 pad=1_0 lhs_dilate=2"),
        "cumulative": ("2,6", "2,6", "size=1x6 pad=0_0x5_0"),
    }
    for op in ("add", "maximum", "minimum"):
        for name, (a, out, window) in odd.items():
            m.add(f"reduce_window_{op}_{name}", [f"f32[{a}]", "f32[]"],
                  f"ROOT r = f32[{out}] reduce-window(p0, p1), "
                  f"window={{{window}}}, to_apply=region_{op}", region(op),
                  inputs={1: {"add": 0.5, "maximum": -np.inf,
                              "minimum": np.inf}[op]})
    m.add("reduce_window_s32", ["s32[6]", "s32[]"],
          "ROOT r = s32[5] reduce-window(p0, p1), window={size=2}, "
          "to_apply=region_multiply", region("multiply", "s32"),
          inputs={1: 1})
    m.add("reduce_window_bf16", ["bf16[6]", "bf16[]"],
          "ROOT r = bf16[5] reduce-window(p0, p1), window={size=2}, "
          "to_apply=region_add", region("add", "bf16"))
    both = """both {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  ge = pred[] compare(a, b), direction=GE
  v = f32[] select(ge, a, b)
  k = s32[] select(ge, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
"""
    m.add("reduce_window_variadic", ["f32[3,6]", "s32[3,6]", "f32[]", "s32[]"],
          "ROOT r = (f32[3,3], s32[3,3]) reduce-window(p0, p1, p2, p3), "
          "window={size=1x2 stride=1x2}, to_apply=both", both,
          inputs={2: -np.inf, 3: -1})
    for direction in ("GE", "LE", "GT"):
        m.add(f"select_and_scatter_{direction}",
              ["f32[1,6,6,2]", "f32[1,3,3,2]", "f32[]"],
              "ROOT r = f32[1,6,6,2] select-and-scatter(p0, p1, p2), "
              "window={size=1x2x2x1 stride=1x2x2x1}, select=select, "
              "scatter=region_add",
              compare_region("select", direction) + region("add"))
    m.add("select_and_scatter_overlap",
          ["f32[1,7,7]", "f32[1,4,4]", "f32[]"],
          "ROOT r = f32[1,7,7] select-and-scatter(p0, p1, p2), "
          "window={size=1x3x3 stride=1x2x2 pad=0_0x1_1x1_1}, select=select, "
          "scatter=region_add", compare_region("select", "GE") + region("add"))


def indexing(m):
    for t in ("s32", "u32", "s64"):
        m.add(f"gather_rows_{t}", ["f32[6,3]", f"{t}[4]"],
              "ROOT r = f32[4,3] gather(p0, p1), offset_dims={1}, "
              "collapsed_slice_dims={0}, start_index_map={0}, "
              "index_vector_dim=1, slice_sizes={1,3}",
              inputs={1: [0, 5, 9, 2] if t == "u32" else [0, 5, 9, -2]})
    m.add("gather_window", ["f32[5,6]", "s32[3,2]"],
          "ROOT r = f32[3,2,3] gather(p0, p1), offset_dims={1,2}, "
          "collapsed_slice_dims={}, start_index_map={0,1}, "
          "index_vector_dim=1, slice_sizes={2,3}")
    m.add("gather_transposed", ["f32[5,6]", "s32[2,3]"],
          "ROOT r = f32[2,3,2] gather(p0, p1), offset_dims={0,2}, "
          "collapsed_slice_dims={}, start_index_map={1,0}, "
          "index_vector_dim=0, slice_sizes={2,2}")
    m.add("gather_batching", ["f32[2,3,5]", "s32[2,3,4]"],
          "ROOT r = f32[2,3,4] gather(p0, p1), offset_dims={}, "
          "collapsed_slice_dims={2}, start_index_map={2}, "
          "operand_batching_dims={0,1}, start_indices_batching_dims={0,1}, "
          "index_vector_dim=3, slice_sizes={1,1,1}")
    for op in ("add", "multiply", "maximum", "minimum", "subtract"):
        m.add(f"scatter_{op}", ["f32[6,3]", "s32[4]", "f32[4,3]"],
              "ROOT r = f32[6,3] scatter(p0, p1, p2), "
              "update_window_dims={1}, inserted_window_dims={0}, "
              "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
              f"to_apply=region_{op}", region(op),
              inputs={1: [1, 4, 1, 7]})
    for t in ("bf16", "s32", "f64"):
        m.add(f"scatter_add_{t}", [f"{t}[6,3]", "s32[3]", f"{t}[3,3]"],
              f"ROOT r = {t}[6,3] scatter(p0, p1, p2), "
              "update_window_dims={1}, inserted_window_dims={0}, "
              "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
              "to_apply=region_add", region("add", t),
              inputs={1: [1, -1, 5]})
    assign = ("assign {\n  a = f32[] parameter(0)\n"
              "  ROOT b = f32[] parameter(1)\n}\n")
    m.add("scatter_assign", ["f32[5,6]", "s32[2,2]", "f32[2,2,3]"],
          "ROOT r = f32[5,6] scatter(p0, p1, p2), update_window_dims={1,2}, "
          "inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
          "index_vector_dim=1, to_apply=assign", assign,
          inputs={1: [[0, 1], [2, 3]]})
    m.add("scatter_outside", ["f32[5,6]", "s32[2,2]", "f32[2,2,3]"],
          "ROOT r = f32[5,6] scatter(p0, p1, p2), update_window_dims={1,2}, "
          "inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
          "index_vector_dim=1, to_apply=assign", assign,
          inputs={1: [[4, 1], [2, 2]]})
    m.add("scatter_batching", ["f32[2,3,5]", "s32[2,3,1]", "f32[2,3]"],
          "ROOT r = f32[2,3,5] scatter(p0, p1, p2), update_window_dims={}, "
          "inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, "
          "input_batching_dims={0,1}, scatter_indices_batching_dims={0,1}, "
          "index_vector_dim=2, to_apply=region_add", region("add"))
    both = """both {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  v = f32[] maximum(a, b)
  k = s32[] add(i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
"""
    m.add("scatter_variadic",
          ["f32[5]", "s32[5]", "s32[3,1]", "f32[3]", "s32[3]"],
          "ROOT r = (f32[5], s32[5]) scatter(p0, p1, p2, p3, p4), "
          "update_window_dims={}, inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
          "to_apply=both", both, inputs={2: [[0], [3], [3]]})


def sorting(m):
    for t in ("f32", "s32", "u8", "f64", "bf16"):
        for direction in ("LT", "GT"):
            m.add(f"sort_{t}_{direction}", [f"{t}[3,7]"],
                  f"a = {t}[3,7] sort(p0), dimensions={{1}}, to_apply=order\n"
                  f"b = {t}[3,7] sort(p0), dimensions={{0}}, to_apply=order\n"
                  f"ROOT r = ({t}[3,7], {t}[3,7]) tuple(a, b)",
                  compare_region("order", direction, t))
    m.add("sort_total_order", ["f32[9]"],
          "ROOT r = f32[9] sort(p0), dimensions={0}, to_apply=order",
          compare_region("order", "LT").replace(
              "direction=LT", "direction=LT, type=TOTALORDER"),
          inputs={0: [3, np.nan, -np.inf, 0, -0.0, 1, np.inf, -5, 2]})
    pairs = """order {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  lt = pred[] compare(a, b), direction=LT
  eq = pred[] compare(a, b), direction=EQ
  gt = pred[] compare(i, j), direction=GT
  tie = pred[] and(eq, gt)
  ROOT r = pred[] or(lt, tie)
}
"""
    m.add("sort_pairs", ["f32[2,8]", "s32[2,8]"],
          "ROOT r = (f32[2,8], s32[2,8]) sort(p0, p1), dimensions={1}, "
          "is_stable=true, to_apply=order", pairs,
          inputs={0: [1, 0, 1, 0, 2, 2, 1, 0] * 2})
    m.add("sort_stable", ["s32[8]", "s32[8]"],
          "ROOT r = (s32[8], s32[8]) sort(p0, p1), dimensions={0}, "
          "is_stable=true, to_apply=order",
          compare_region("order", "LT", "s32").replace(
              "  ROOT", "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
              "  ROOT"), inputs={0: [1, 0, 1, 0, 2, 2, 1, 0]})
    for t in ("f32", "s32"):
        m.add(f"topk_{t}", [f"{t}[3,8]"],
              f"ROOT r = ({t}[3,3], s32[3,3]) topk(p0), k=3, largest=true",
              inputs={0: [[5, 1, 7, 7, 2, 0, -1, 3]] * 3})


def control(m):
    m.add("while", ["s32[]", "f32[3]"], """
        t = (s32[], f32[3]) tuple(p0, p1)
        ROOT r = (s32[], f32[3]) while(t), condition=condition, body=body""", """
condition {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[3] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[3] add(x, x)
  ROOT r = (s32[], f32[3]) tuple(j, y)
}
""", inputs={0: 0})
    m.add("while_update", ["f32[4,2]"], """
        zero = s32[] constant(0)
        t = (s32[], f32[4,2]) tuple(zero, p0)
        ROOT r = (s32[], f32[4,2]) while(t), condition=condition, body=body""", """
condition {
  t = (s32[], f32[4,2]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[4,2]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4,2] get-tuple-element(t), index=1
  zero = s32[] constant(0)
  row = f32[1,2] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,2}
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4,2] dynamic-update-slice(x, row, j, zero)
  ROOT r = (s32[], f32[4,2]) tuple(j, y)
}
""")
    branches = """
double {
  x = f32[3] parameter(0)
  ROOT r = f32[3] add(x, x)
}
square {
  x = f32[3] parameter(0)
  ROOT r = f32[3] multiply(x, x)
}
negate_it {
  x = f32[3] parameter(0)
  ROOT r = f32[3] negate(x)
}
"""
    for value in (0, 1):
        m.add(f"conditional_pred_{value}", ["pred[]", "f32[3]", "f32[3]"],
              "ROOT r = f32[3] conditional(p0, p1, p2), "
              "true_computation=double, false_computation=square", branches,
              inputs={0: value})
    for value in (-1, 0, 1, 2, 9):
        m.add(f"conditional_index_{'m1' if value < 0 else value}",
              ["s32[]", "f32[3]"],
              "ROOT r = f32[3] conditional(p0, p1, p1, p1), "
              "branch_computations={double, square, negate_it}", branches,
              inputs={0: value})
    m.add("call", ["f32[3]"],
          "a = f32[3] call(p0), to_apply=double\n"
          "ROOT r = f32[3] call(a), to_apply=square", branches)
    m.add("map", ["f32[2,3]", "f32[2,3]"],
          "ROOT r = f32[2,3] map(p0, p1), dimensions={0,1}, to_apply=f", """
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] constant(2)
  d = f32[] multiply(a, c)
  ROOT r = f32[] subtract(d, b)
}
""")


def batch_norm(m):
    for index, features in ((3, 3), (1, 2)):
        f = f"f32[{features}]"
        m.add(f"batch_norm_training_{index}", ["f32[2,2,2,3]", f, f],
              f"ROOT r = (f32[2,2,2,3], {f}, {f}) "
              "batch-norm-training(p0, p1, p2), epsilon=0.001, "
              f"feature_index={index}")
        m.add(f"batch_norm_inference_{index}", ["f32[2,2,2,3]", f, f, f, f],
              "ROOT r = f32[2,2,2,3] batch-norm-inference(p0, p1, p2, p3, "
              f"p4), epsilon=0.001, feature_index={index}",
              inputs={4: [0.5] * features})
        m.add(f"batch_norm_grad_{index}",
              ["f32[2,2,2,3]", f, f, f, "f32[2,2,2,3]"],
              f"ROOT r = (f32[2,2,2,3], {f}, {f}) "
              "batch-norm-grad(p0, p1, p2, p3, p4), epsilon=0.001, "
              f"feature_index={index}", inputs={3: [0.5] * features})


def random_bits(m):
    for algorithm, words in (("rng_three_fry", 2), ("rng_philox", 3)):
        for shape in ("u32[5]", "u32[6]", "u32[2,3]", "u32[3,3]", "u32[]",
                      "u64[5]", "u64[2,2]", "u8[7]", "u16[4]", "u32[3,4,5]"):
            name = re.sub(r"\W+", "_", shape).strip("_")
            m.add(f"{algorithm}_{name}", [f"u64[{words}]"],
                  f"ROOT r = (u64[{words}], {shape}) rng-bit-generator(p0), "
                  f"algorithm={algorithm}",
                  inputs={0: [0x123456789ABCDEF, 42, 7][:words]})


FAMILIES = (unary, binary, compare, convert, movement, dot, convolution, reduce,
            windows, indexing, sorting, control, linear_algebra, lapack,
            batch_norm, random_bits)  # fmt: skip


def families(types):
    makers = {make.__name__: (make, Maker(types)) for make in FAMILIES}
    for make, maker in makers.values():
        make(maker)
    return {name: maker.cases for name, (_, maker) in makers.items()}

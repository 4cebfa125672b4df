"""The families linear_algebra and lapack of evaluator_golden_cases.py."""

import numpy as np

LETTERS = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}


def linear_algebra(m):
    a = np.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]])
    for t in ("f32", "f64"):
        for lower in ("true", "false"):
            m.add(f"cholesky_{t}_{lower}", [f"{t}[2,3,3]"],
                  f"ROOT r = {t}[2,3,3] cholesky(p0), lower={lower}",
                  inputs={0: np.stack([a, a + np.eye(3)])})
    for left in ("true", "false"):
        for lower in ("true", "false"):
            for transpose in ("NO_TRANSPOSE", "TRANSPOSE"):
                for unit in ("true", "false"):
                    b = "2,3,4" if left == "true" else "2,4,3"
                    m.add(
                        f"triangular_{left}_{lower}_{transpose}_{unit}",
                        ["f32[2,3,3]", f"f32[{b}]"],
                        f"ROOT r = f32[{b}] triangular-solve(p0, p1), "
                        f"left_side={left}, lower={lower}, "
                        f"unit_diagonal={unit}, transpose_a={transpose}",
                        inputs={0: np.stack([a, a + np.eye(3)])})
    for n in (4, 6, 7):
        m.each(f"fft_{n}", [f"c64[2,{n}]", f"f32[2,{n}]",
                            f"c64[2,{n // 2 + 1}]"],
               [f"c64[2,{n}] fft(p0), fft_type=FFT, fft_length={{{n}}}",
                f"c64[2,{n}] fft(p0), fft_type=IFFT, fft_length={{{n}}}",
                f"c64[2,{n // 2 + 1}] fft(p1), fft_type=RFFT, "
                f"fft_length={{{n}}}",
                f"f32[2,{n}] fft(p2), fft_type=IRFFT, fft_length={{{n}}}"])
    m.each("fft_2d", ["c64[3,4]", "f32[3,4]", "c64[3,3]"],
           ["c64[3,4] fft(p0), fft_type=FFT, fft_length={3,4}",
            "c64[3,3] fft(p1), fft_type=RFFT, fft_length={3,4}",
            "f32[3,4] fft(p2), fft_type=IRFFT, fft_length={3,4}"])


def call(target, operands, result, config=""):
    """A custom call as JAX emits it, with matrices by columns."""
    constraints = ", ".join(operands)
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    return (f'ROOT r = {result} custom-call({names}), '
            f'custom_call_target="lapack_{target}_ffi", '
            f"operand_layout_constraints={{{constraints}}}, "
            "api_version=API_VERSION_TYPED_FFI, "
            f"backend_config={{{config}}}")


def lapack(m):
    def add(name, target, operands, result, config="", inputs=None):
        m.add(name, [operand.split("{")[0] for operand in operands],
              call(target, operands, result, config), inputs=inputs or {})

    a = np.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]])
    pair = np.stack([a, a + np.eye(3)])
    for t, letter in LETTERS.items():
        square = f"{t}[2,3,3]{{1,2,0}}"
        for uplo in "LU":
            add(f"potrf_{t}_{uplo}", f"{letter}potrf", [square],
                f"({square}, s32[2]{{0}})", f"uplo = {ord(uplo)} : ui8",
                {0: pair})
        for rows, columns in ((3, 3), (4, 2), (2, 4)):
            matrix = f"{t}[2,{rows},{columns}]{{1,2,0}}"
            least = min(rows, columns)
            add(f"getrf_{t}_{rows}_{columns}", f"{letter}getrf", [matrix],
                f"({matrix}, s32[2,{least}]{{1,0}}, s32[2]{{0}})")
            add(f"geqrf_{t}_{rows}_{columns}", f"{letter}geqrf", [matrix],
                f"({matrix}, {t}[2,{least}]{{1,0}})")
        tall = f"{t}[2,4,3]{{1,2,0}}"
        name = "orgqr" if t in ("f32", "f64") else "ungqr"
        add(f"{name}_{t}", f"{letter}{name}", [tall, f"{t}[2,2]{{1,0}}"], tall)
        for side in "LR":
            for transpose in "NT" if t in ("f32", "f64") else "NTC":
                b = f"{t}[2,{'3,4' if side == 'L' else '4,3'}]{{1,2,0}}"
                config = (f"diag = 78 : ui8, side = {ord(side)} : ui8, "
                          f"trans_x = {ord(transpose)} : ui8, "
                          "uplo = 76 : ui8")
                add(f"trsm_{t}_{side}_{transpose}", f"{letter}trsm",
                    [square, b], b, config, {0: pair})
    # A matrix without a factorization.
    zero = np.zeros((1, 3, 3))
    add("getrf_singular", "sgetrf", ["f32[1,3,3]{1,2,0}"],
        "(f32[1,3,3]{1,2,0}, s32[1,3]{1,0}, s32[1]{0})", inputs={0: zero})

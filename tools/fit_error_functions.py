"""Fits the tables of erf and erfc in backends/llvm/error_functions.cc.

    python3 tools/fit_error_functions.py

It needs mpmath and NumPy, and prints the coefficients of
erf(x) / x and of log2(erfc(x)), a table for each power of the distance to the
center, with the largest error of each piece in units in the last place of the
function at the end of the piece. 16 centers, since a register of AVX-512 holds
16 floats.
"""

import mpmath
import numpy

mpmath.mp.dps = 40
PIECES = 16
# Floats to either side of a center's place that are tried.
TRIES = 4000
# A value of the function this close to a float, in units in the last place,
# ends the search.
CLOSE = 0.004


def ulp(value):
    return 2.0 ** (numpy.floor(numpy.log2(abs(float(value)))) - 23)


def find_center(function, place):
    """Returns the float near `place` where `function` is closest to a float,
    and that."""
    start = numpy.float32(float(place))
    best = None
    for step in range(TRIES):
        for sign in (1, -1):
            center = numpy.float32(
                start + numpy.float32(sign * step) * numpy.spacing(start))
            value = function(mpmath.mpf(float(center)))
            rounded = numpy.float32(float(value))
            error = abs(float(value - mpmath.mpf(float(rounded)))) / ulp(rounded)
            if best is None or error < best[0]:
                best = (error, center, rounded)
        if best[0] < CLOSE:
            break
    return best[1:]


def fit(function, low, high, center, degree, constant):
    """Returns coefficients of x - center, with the given constant one: least
    squares at Chebyshev points, whose weights move towards the largest errors."""
    count = 8 * degree
    points = [(low + high) / 2 + (high - low) / 2 *
              mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count))
              for k in range(count)]
    points = [x for x in points if abs(x - center) > (high - low) / 200]
    values = [function(x) - constant for x in points]
    weights = [mpmath.mpf(1)] * len(points)
    for _ in range(12):
        a = mpmath.matrix(len(points), degree)
        b = mpmath.matrix(len(points), 1)
        for i, x in enumerate(points):
            root = mpmath.sqrt(weights[i])
            for j in range(degree):
                a[i, j] = root * (x - center) ** (j + 1)
            b[i] = root * values[i]
        solution = mpmath.lu_solve(a.T * a, a.T * b)
        errors = [abs(values[i] - sum(solution[j] * (x - center) ** (j + 1)
                                      for j in range(degree)))
                  for i, x in enumerate(points)]
        largest = max(errors)
        weights = [w * (e / largest + mpmath.mpf("0.05"))
                   for w, e in zip(weights, errors)]
        total = sum(weights)
        weights = [w / total * len(weights) for w in weights]
    return [constant] + [solution[j] for j in range(degree)]


def print_table(name, function, per_unit, degree, at_zero):
    centers, pieces, errors = [], [], []
    for i in range(PIECES):
        low = mpmath.mpf(max(i - 0.5, 0)) / per_unit
        high = mpmath.mpf(i + 0.5) / per_unit
        if i == 0:
            center, constant = numpy.float32(0), at_zero
        else:
            center, constant = find_center(function, mpmath.mpf(i) / per_unit)
        # Rounding takes some arguments to the next piece.
        margin = (high - low) * mpmath.mpf("0.0001")
        low -= margin if i else 0
        high += margin
        at = mpmath.mpf(float(center))
        piece = [numpy.float32(float(c)) for c in
                 fit(function, low, high, at, degree,
                     mpmath.mpf(float(constant)))]
        centers.append(center)
        pieces.append(piece)
        points = [low + (high - low) * mpmath.mpf(t) / 40 for t in range(41)]
        error = max(abs(function(x) - sum(mpmath.mpf(float(c)) * (x - at) ** j
                                          for j, c in enumerate(piece)))
                    for x in points if x > 0)
        errors.append(float(error) / ulp(function(high)))
    print(f"{name}: {per_unit} centers per unit, largest error "
          f"{max(errors):.2f} units in the last place")
    for row in [centers] + [list(column) for column in zip(*pieces)]:
        print("  {" + ", ".join(f"{float(c):.9g}" for c in row) + "}")


def erf_over_x(x):
    return mpmath.erf(x) / x if x != 0 else 2 / mpmath.sqrt(mpmath.pi)


def log_erfc(x):
    return mpmath.log(mpmath.erfc(x), 2)


def main():
    print_table("erf(x) / x", erf_over_x, 3.875, 5,
                numpy.float32(float(erf_over_x(mpmath.mpf(0)))))
    print_table("log2(erfc(x))", log_erfc, 1.5, 5, numpy.float32(0))


if __name__ == "__main__":
    main()

#ifndef HONE_TESTS_LOOPS_TRANSFORMS_SHARED_PROGRAMS_H_
#define HONE_TESTS_LOOPS_TRANSFORMS_SHARED_PROGRAMS_H_

namespace hone::testing {

// Programs that tests of several transformations begin with.

inline constexpr char kMatmul[] = R"(kernel matmul
argument a f32[4,8]
argument b f32[8,6]
result c f32[4,6]
for i 4
| for j 6
| | c[i,j] = 0.0
| | for k 8
| | | c[i,j] += a[i,k] * b[k,j]
)";

// Iterations of k add to a diagonal as well as to all of y.
inline constexpr char kDiagonalBesideWhole[] = R"(kernel k
argument x f32[3,4]
result y f32[4,4]
for i 4
| for j 4
| | y[i,j] = 0.0
for k 3
| for i 4
| | y[i,i] += x[k,i]
| for i 4
| | for j 4
| | | y[i,j] += x[k,i]
)";

// Iterations of i and j add to the same element: y[1] for 0, 1 and for 1, 0.
inline constexpr char kSharedTargets[] = R"(kernel k
argument x f32[8,3]
argument w f32[4]
result y f32[6]
for i 6
| y[i] = 0.0
for k 8
| for i 3
| | for j 4
| | | y[i+j] += x[k,i] * w[j]
)";

// The inner loop has a bound that depends on the outer one.
inline constexpr char kBoundedInner[] = R"(kernel k
result y f32[20]
for i 3
| for j 8 < 20-8*i
| | y[8*i+j] = 0.0
)";

inline constexpr char kVectorInner[] = R"(kernel k
result y f32[4,8]
for i 4
| for j 8 vector
| | y[i,j] = 0.0
)";

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_TRANSFORMS_SHARED_PROGRAMS_H_

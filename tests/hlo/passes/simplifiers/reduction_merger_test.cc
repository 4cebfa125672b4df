#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

void ExpectMerges(const char* before, const char* after) {
  ExpectEntryRewrites("reduction-merger", before, after);
}
void ExpectKept(const char* body, const RewriteOptions& options = {}) {
  ExpectEntryUnchanged("reduction-merger", body, options);
}

constexpr char kNorm[] = R"(
  x = f32[4,8] parameter(0)
  y = f32[3] parameter(1)
  z = f32[4,8] parameter(2)
  zero = f32[] constant(0)
  a = f32[] reduce(x, zero), dimensions={0,1}, to_apply=sum
  b = f32[] reduce(y, zero), dimensions={0}, to_apply=sum
  c = f32[] reduce(z, zero), dimensions={0,1}, to_apply=sum
  d = f32[] add(a, b)
  e = f32[] add(d, c)
  ROOT r = f32[] sqrt(e))";

TEST(ReductionMerger, MergesSumsOfEqualSizesInATree) {
  ExpectMerges(kNorm, R"(
  x = f32[4,8] parameter(0)
  y = f32[3] parameter(1)
  z = f32[4,8] parameter(2)
  zero = f32[] constant(0)
  b = f32[] reduce(y, zero), dimensions={0}, to_apply=sum
  xz = f32[4,8] add(x, z)
  a = f32[] reduce(xz, zero), dimensions={0,1}, to_apply=sum
  e = f32[] add(b, a)
  ROOT r = f32[] sqrt(e))");
}

TEST(ReductionMerger, LeavesSumsOfFloatsWhenExact) {
  ExpectKept(kNorm, {.numerics = Numerics::kExact});
}

TEST(ReductionMerger, TakesASumThatIsThere) {
  ExpectMerges(R"(
  x = f32[4,8] parameter(0)
  y = f32[4,8] parameter(1)
  zero = f32[] constant(0)
  s = f32[4,8] add(x, y)
  a = f32[4] reduce(x, zero), dimensions={1}, to_apply=sum
  n = f32[4] negate(a)
  b = f32[4] reduce(y, zero), dimensions={1}, to_apply=sum
  d = f32[4] subtract(n, b)
  ROOT r = (f32[4,8], f32[4]) tuple(s, d))",
               R"(
  x = f32[4,8] parameter(0)
  y = f32[4,8] parameter(1)
  zero = f32[] constant(0)
  s = f32[4,8] add(x, y)
  a = f32[4] reduce(s, zero), dimensions={1}, to_apply=sum
  d = f32[4] negate(a)
  ROOT r = (f32[4,8], f32[4]) tuple(s, d))");
}

TEST(ReductionMerger, KeepsSigns) {
  ExpectMerges(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = f32[4] parameter(2)
  zero = f32[] constant(0)
  a = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
  b = f32[] reduce(y, zero), dimensions={0}, to_apply=sum
  c = f32[] reduce(z, zero), dimensions={0}, to_apply=sum
  d = f32[] subtract(a, b)
  ROOT e = f32[] subtract(c, d))",
               R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = f32[4] parameter(2)
  zero = f32[] constant(0)
  f = f32[4] add(z, y)
  g = f32[4] subtract(f, x)
  ROOT a = f32[] reduce(g, zero), dimensions={0}, to_apply=sum)");
}

TEST(ReductionMerger, LeavesOtherSums) {
  // One is read elsewhere, too.
  ExpectKept(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = f32[] constant(0)
  a = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
  b = f32[] reduce(y, zero), dimensions={0}, to_apply=sum
  d = f32[] add(a, b)
  ROOT r = (f32[], f32[]) tuple(a, d))");
  // It begins with something.
  ExpectKept(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  a = f32[] reduce(x, one), dimensions={0}, to_apply=sum
  b = f32[] reduce(y, zero), dimensions={0}, to_apply=sum
  ROOT d = f32[] add(a, b))");
  // Maxima, and other dimensions.
  ExpectKept(R"(
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  zero = f32[] constant(0)
  a = f32[4] reduce(x, zero), dimensions={0}, to_apply=sum
  b = f32[4] reduce(y, zero), dimensions={1}, to_apply=sum
  c = f32[4] reduce(x, zero), dimensions={0}, to_apply=maximum
  d = f32[4] add(a, b)
  ROOT e = f32[4] add(d, c))");
}

}  // namespace
}  // namespace hone::hlo

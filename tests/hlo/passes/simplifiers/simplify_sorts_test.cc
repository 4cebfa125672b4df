#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(SimplifySorts, DropsOperandsThatNothingNeeds) {
  ExpectRewrites("simplify-sorts", R"(
HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  e = f64[] parameter(4)
  f = f64[] parameter(5)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  keys = f32[8] parameter(0)
  order = f64[8] parameter(1)
  unused = s32[8] iota(), iota_dimension=0
  s = (f32[8], s32[8], f64[8]) sort(keys, unused, order), dimensions={0}, is_stable=true, to_apply=less
  sorted = f32[8] get-tuple-element(s), index=0
  permutation = f64[8] get-tuple-element(s), index=2
  ROOT t = (f32[8], f64[8]) tuple(sorted, permutation)
})",
                 R"(
HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  e = f64[] parameter(2)
  f = f64[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  keys = f32[8] parameter(0)
  order = f64[8] parameter(1)
  s = (f32[8], f64[8]) sort(keys, order), dimensions={0}, is_stable=true, to_apply=less
  sorted = f32[8] get-tuple-element(s), index=0
  permutation = f64[8] get-tuple-element(s), index=1
  ROOT t = (f32[8], f64[8]) tuple(sorted, permutation)
})");
}

TEST(SimplifySorts, LeavesNoTupleOfOneArray) {
  ExpectRewrites("simplify-sorts", R"(
HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  keys = f32[8] parameter(0)
  order = s32[8] parameter(1)
  s = (f32[8], s32[8]) sort(keys, order), dimensions={0}, to_apply=less
  ROOT sorted = f32[8] get-tuple-element(s), index=0
})",
                 R"(
HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  keys = f32[8] parameter(0)
  order = s32[8] parameter(1)
  ROOT s = f32[8] sort(keys), dimensions={0}, to_apply=less
})");
}

TEST(SimplifySorts, KeepsKeysAndTuplesThatEscape) {
  ExpectUnchanged("simplify-sorts", R"(
HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  keys = f32[8] parameter(0)
  order = s32[8] parameter(1)
  s = (f32[8], s32[8]) sort(keys, order), dimensions={0}, to_apply=less
  permutation = s32[8] get-tuple-element(s), index=1
  u = (f32[8], s32[8]) sort(keys, permutation), dimensions={0}, to_apply=less
  sorted = f32[8] get-tuple-element(u), index=0
  ROOT t = ((f32[8], s32[8]), f32[8], s32[8]) tuple(u, sorted, permutation)
})");
}

}  // namespace
}  // namespace hone::hlo

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

// A module that may sort the arrays `keys` and `order` by the keys.
std::string WithSort(absl::string_view body) {
  return absl::StrCat(R"(
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
  order = s32[8] parameter(1))",
                      body, "\n}");
}

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
  ExpectRewrites("simplify-sorts",
                 WithSort(
                     R"(
  s = (f32[8], s32[8]) sort(keys, order), dimensions={0}, to_apply=less
  ROOT sorted = f32[8] get-tuple-element(s), index=0)"),
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
  ExpectUnchanged("simplify-sorts", WithSort(
                                        R"(
  s = (f32[8], s32[8]) sort(keys, order), dimensions={0}, to_apply=less
  permutation = s32[8] get-tuple-element(s), index=1
  u = (f32[8], s32[8]) sort(keys, permutation), dimensions={0}, to_apply=less
  sorted = f32[8] get-tuple-element(u), index=0
  ROOT t = ((f32[8], s32[8]), f32[8], s32[8]) tuple(u, sorted, permutation))"));
}

TEST(SimplifySorts, KeepsOperandsUnderATupleSharding) {
  const std::string sort = WithSort(
      R"(
  s = (f32[8], s32[8]) sort(keys, order), dimensions={0}, to_apply=less$SORT
  x = f32[8] get-tuple-element(s), index=0$FIRST
  y = f32[8] get-tuple-element(s), index=0$SECOND
  ROOT sum = f32[8] add(x, y))");
  ExpectUnchanged(
      "simplify-sorts",
      absl::StrReplaceAll(sort,
                          {{"$SORT", ", sharding={{replicated}, {replicated}}"},
                           {"$FIRST", ""},
                           {"$SECOND", ""}}));
  // One array cannot have both.
  ExpectUnchanged("simplify-sorts",
                  absl::StrReplaceAll(
                      sort, {{"$SORT", ""},
                             {"$FIRST", ", sharding={replicated}"},
                             {"$SECOND", ", sharding={maximal device=0}"}}));
  // An element on which another instruction depends by control is kept.
  ExpectUnchanged(
      "simplify-sorts",
      absl::StrReplaceAll(sort, {{"$SORT", ""},
                                 {"$FIRST", ", control-predecessors={keys}"},
                                 {"$SECOND", ""}}));
}

TEST(SimplifySorts, NarrowsDynamicSortsAndCarriesAttributes) {
  ExpectRewrites("simplify-sorts", R"(
HloModule m
more {
  a = u8[] parameter(0)
  b = u8[] parameter(1)
  c = bf16[] parameter(2)
  d = bf16[] parameter(3)
  ROOT r = pred[] compare(c, d), direction=GT
}
ENTRY e {
  x = u8[<=8] parameter(0)
  keys = bf16[<=8] parameter(1)
  s = (u8[<=8], bf16[<=8]) sort(x, keys), dimensions={0}, to_apply=more
  ROOT r = bf16[<=8] get-tuple-element(s), index=1, sharding={replicated}, frontend_attributes={a="1"}
})",
                 R"(
HloModule m
more {
  c = bf16[] parameter(0)
  d = bf16[] parameter(1)
  ROOT r = pred[] compare(c, d), direction=GT
}
ENTRY e {
  x = u8[<=8] parameter(0)
  keys = bf16[<=8] parameter(1)
  ROOT s = bf16[<=8] sort(keys), dimensions={0}, to_apply=more, sharding={replicated}, frontend_attributes={a="1"}
})");
}

TEST(SimplifySorts, LeavesDeadSortsToDce) {
  ExpectUnchanged("simplify-sorts", WithSort(
                                        R"(
  s = (f32[8], s32[8]) sort(keys, order), dimensions={0}, to_apply=less
  ROOT n = f32[8] negate(keys))"));
}

}  // namespace
}  // namespace hone::hlo

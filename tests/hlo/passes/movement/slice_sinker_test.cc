#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "slice-sinker";

TEST(SliceSinker, ComputesOverlappingSlicesOnce) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  a0 = f32[6] slice(a), slice={[0:6]}
  b0 = f32[6] slice(b), slice={[0:6]}
  a1 = f32[6] slice(a), slice={[4:10]}
  b1 = f32[6] slice(b), slice={[4:10]}
  s = f32[6] add(a0, b0)
  u = f32[6] add(a1, b1)
  ROOT t = (f32[6], f32[6]) tuple(s, u))",
                      R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  w = f32[10] add(a, b)
  s = f32[6] slice(w), slice={[0:6]}
  u = f32[6] slice(w), slice={[4:10]}
  ROOT t = (f32[6], f32[6]) tuple(s, u))");
}

TEST(SliceSinker, KeepsOperationsThatCoverTooLittle) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[10] parameter(0)
  a0 = f32[4] slice(a), slice={[0:4]}
  a1 = f32[5] slice(a), slice={[5:10]}
  n = f32[4] negate(a0)
  m = f32[5] negate(a1)
  ROOT t = (f32[4], f32[5]) tuple(n, m))");
}

// One operation on two equal slices of one array counts once.
TEST(SliceSinker, CountsAnOperationOnce) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[10] parameter(0)
  a0 = f32[6] slice(a), slice={[0:6]}
  a1 = f32[6] slice(a), slice={[0:6]}
  ROOT s = f32[6] add(a0, a1))");
}

TEST(SliceSinker, KeepsDifferentSlicesAndOperations) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  a0 = f32[6] slice(a), slice={[0:6]}
  b1 = f32[6] slice(b), slice={[4:10]}
  a1 = f32[6] slice(a), slice={[4:10]}
  s = f32[6] add(a0, b1)
  n = f32[6] negate(a0)
  e = f32[6] exponential(a1)
  ROOT t = (f32[6], f32[6], f32[6]) tuple(s, n, e))");
}

TEST(SliceSinker, KeepsManyThatCoverTooLittle) {
  constexpr int kSlices = 50'000;
  std::string body = absl::StrCat("a = f32[", 2 * kSlices, "] parameter(0)\n");
  std::string results;
  std::string types;
  for (int i = 0; i < kSlices; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    absl::StrAppend(&body, "s", i, " = f32[1] slice(a), slice={[", i, ":",
                    i + 1, "]}\nn", i, " = f32[1] negate(s", i, ")\n");
    absl::StrAppend(&results, comma, "n", i);
    absl::StrAppend(&types, comma, "f32[1]");
  }
  absl::StrAppend(&body, "ROOT t = (", types, ") tuple(", results, ")");
  ExpectEntryUnchanged(kPass, body);
}

// What is computed from slices of the same arrays after a first step sinks too.
TEST(SliceSinker, SinksChains) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  a0 = f32[6] slice(a), slice={[0:6]}
  b0 = f32[6] slice(b), slice={[0:6]}
  a1 = f32[6] slice(a), slice={[4:10]}
  b1 = f32[6] slice(b), slice={[4:10]}
  n0 = f32[6] negate(a0)
  n1 = f32[6] negate(a1)
  s = f32[6] add(n0, b0)
  u = f32[6] add(n1, b1)
  ROOT t = (f32[6], f32[6]) tuple(s, u))",
                      R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  n = f32[10] negate(a)
  w = f32[10] add(n, b)
  s = f32[6] slice(w), slice={[0:6]}
  u = f32[6] slice(w), slice={[4:10]}
  ROOT t = (f32[6], f32[6]) tuple(s, u))");
}

}  // namespace
}  // namespace hone::hlo

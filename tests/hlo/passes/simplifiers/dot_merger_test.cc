#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/passes/registry.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "dot-merger";

TEST(DotMerger, JoinsRightOperands) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[8,4] parameter(0)
  b = f32[4,3] parameter(1)
  c = f32[4,5] parameter(2)
  d = f32[8,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[8,3], f32[8,5]) tuple(d, e))",
                      R"(
  a = f32[8,4] parameter(0)
  b = f32[4,3] parameter(1)
  c = f32[4,5] parameter(2)
  bc = f32[4,8] concatenate(b, c), dimensions={1}
  m = f32[8,8] dot(a, bc), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[8,3] slice(m), slice={[0:8], [0:3]}
  e = f32[8,5] slice(m), slice={[0:8], [3:8]}
  ROOT t = (f32[8,3], f32[8,5]) tuple(d, e))");
}

TEST(DotMerger, JoinsThreeLeftOperandsOfABatch) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[2,1,4] parameter(0)
  b = f32[2,3,4] parameter(1)
  c = f32[2,4,4] parameter(2)
  w = f32[2,4,5] parameter(3)
  d = f32[2,1,5] dot(a, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  e = f32[2,3,5] dot(b, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  f = f32[2,4,5] dot(c, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT t = (f32[2,1,5], f32[2,3,5], f32[2,4,5]) tuple(d, e, f))",
                      R"(
  a = f32[2,1,4] parameter(0)
  b = f32[2,3,4] parameter(1)
  c = f32[2,4,4] parameter(2)
  w = f32[2,4,5] parameter(3)
  abc = f32[2,8,4] concatenate(a, b, c), dimensions={1}
  m = f32[2,8,5] dot(abc, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  d = f32[2,1,5] slice(m), slice={[0:2], [0:1], [0:5]}
  e = f32[2,3,5] slice(m), slice={[0:2], [1:4], [0:5]}
  f = f32[2,4,5] slice(m), slice={[0:2], [4:8], [0:5]}
  ROOT t = (f32[2,1,5], f32[2,3,5], f32[2,4,5]) tuple(d, e, f))");
}

TEST(DotMerger, KeepsDotsThatDependOnEachOther) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,4] tanh(d)
  ROOT e = f32[4,4] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

// Once b and c are merged, the merged dot needs what e gives: e must not join.
TEST(DotMerger, SeesDependenciesThroughTheGroup) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,4] tanh(d)
  f = f32[4,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,4] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,4], f32[4,4]) tuple(e, f))",
                      R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  bc = f32[4,8] concatenate(b, c), dimensions={1}
  m = f32[4,8] dot(a, bc), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[4,4] slice(m), slice={[0:4], [0:4]}
  n = f32[4,4] tanh(d)
  f = f32[4,4] slice(m), slice={[0:4], [4:8]}
  e = f32[4,4] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,4], f32[4,4]) tuple(e, f))");
}

TEST(DotMerger, KeepsDotsThatDiffer) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,4] dot(a, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  f = f32[4,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  ROOT t = (f32[4,4], f32[4,4], f32[4,4]) tuple(d, e, f))");
}

TEST(DotMerger, KeepsTypesAndCarriesAttributes) {
  ExpectEntryRewrites(kPass, R"(
  a = bf16[8,4] parameter(0)
  b = bf16[4,3] parameter(1)
  c = bf16[4,5] parameter(2)
  d = f32[8,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  e = f32[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  f = bf16[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  ROOT t = (f32[8,3], f32[8,5], bf16[8,5]) tuple(d, e, f))",
                      R"(
  a = bf16[8,4] parameter(0)
  b = bf16[4,3] parameter(1)
  c = bf16[4,5] parameter(2)
  bc = bf16[4,8] concatenate(b, c), dimensions={1}
  m = f32[8,8] dot(a, bc), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}
  d = f32[8,3] slice(m), slice={[0:8], [0:3]}, sharding={replicated}
  e = f32[8,5] slice(m), slice={[0:8], [3:8]}, sharding={replicated}
  f = bf16[8,5] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, sharding={replicated}
  ROOT t = (f32[8,3], f32[8,5], bf16[8,5]) tuple(d, e, f))");
}

// d runs before e by control only.
TEST(DotMerger, SeesControlDependencies) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[4,4] negate(d)
  k = f32[4,4] abs(c), control-predecessors={n}
  e = f32[4,4] dot(a, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,4], f32[4,4]) tuple(n, e))");
}

// d and f come together: then h needs e by way of them.
TEST(DotMerger, SeesDependenciesThroughAnotherGroup) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  k = f32[4,4] tanh(e)
  f = f32[4,4] dot(a, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  l = f32[4,4] tanh(d)
  h = f32[4,4] dot(a, l), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  ROOT t = (f32[4,4], f32[4,4]) tuple(f, h))",
                      R"(
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  e = f32[4,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  k = f32[4,4] tanh(e)
  bk = f32[4,8] concatenate(b, k), dimensions={1}
  m = f32[4,8] dot(a, bk), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[4,4] slice(m), slice={[0:4], [0:4]}
  f = f32[4,4] slice(m), slice={[0:4], [4:8]}
  l = f32[4,4] tanh(d)
  h = f32[4,4] dot(a, l), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  ROOT t = (f32[4,4], f32[4,4]) tuple(f, h))");
}

// An unrolled recurrence: each of 20,000 dots needs the one before. To search
// for that from every pair would take days.
TEST(DotMerger, KeepsALongChain) {
  constexpr int kSteps = 20'000;
  std::string body = "w = f32[8,8] parameter(0)\nh0 = f32[4,8] parameter(1)\n";
  for (int i = 0; i < kSteps; ++i) {
    absl::StrAppend(&body, "d", i, " = f32[4,8] dot(h", i,
                    ", w), lhs_contracting_dims={1}, "
                    "rhs_contracting_dims={0}\n",
                    i + 1 == kSteps ? "ROOT " : "", "h", i + 1,
                    " = f32[4,8] tanh(d", i, ")\n");
  }
  ExpectEntryUnchanged(kPass, body);
}

// Of more dots than are compared at once, neighbors come together.
TEST(DotMerger, JoinsThousandsInParts) {
  constexpr int kDots = 2'000;
  std::string body = "w = f32[8,8] parameter(0)\nx = f32[1,8] parameter(1)\n";
  std::string results;
  std::string types;
  for (int i = 0; i < kDots; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    absl::StrAppend(&body, "d", i,
                    " = f32[1,8] dot(x, w), lhs_contracting_dims={1}, "
                    "rhs_contracting_dims={0}\n");
    absl::StrAppend(&results, comma, "d", i);
    absl::StrAppend(&types, comma, "f32[1,8]");
  }
  absl::StrAppend(&body, "ROOT t = (", types, ") tuple(", results, ")");
  Module module = ParseForTest(Entry(body));
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(kPass));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  int dots = 0;
  for (const Instruction& instruction :
       module.entry_computation().instructions()) {
    dots += instruction.opcode() == Opcode::kDot ? 1 : 0;
  }
  EXPECT_EQ(dots, 2);
}

TEST(DotMerger, JoinsEmptyOperands) {
  ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[8,0] parameter(0)
  b = f32[0,3] parameter(1)
  c = f32[0,0] parameter(2)
  d = f32[8,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[8,0] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[8,3], f32[8,0]) tuple(d, e))"));
}

}  // namespace
}  // namespace hone::hlo

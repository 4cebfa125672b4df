#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/passes/joined_operands.h"
#include "hlo/passes/registry.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

void ExpectSimplifies(const char* before, const char* after) {
  ExpectEntryRewrites("algsimp", before, after);
}
void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(AlgsimpBroadcast, ComposesWhatJaxEmits) {
  ExpectSimplifies(R"(
  p = f32[2,16] parameter(0)
  a = f32[2,16,1] reshape(p)
  b = f32[2,16,1] broadcast(a), dimensions={0,1,2}
  c = f32[2,16] reshape(b)
  ROOT d = f32[2,16,64] broadcast(c), dimensions={0,1})",
                   R"(
  p = f32[2,16] parameter(0)
  ROOT d = f32[2,16,64] broadcast(p), dimensions={0,1})");
  ExpectSimplifies(R"(
  p = f32[3] parameter(0)
  a = f32[2,3] broadcast(p), dimensions={1}
  ROOT b = f32[2,5,3] broadcast(a), dimensions={0,2})",
                   R"(
  p = f32[3] parameter(0)
  ROOT b = f32[2,5,3] broadcast(p), dimensions={2})");
}

TEST(AlgsimpBroadcast, SkipsAReshapeThatInsertsOnes) {
  ExpectSimplifies(R"(
  p = f32[2,3] parameter(0)
  a = f32[2,1,3] reshape(p)
  ROOT b = f32[2,1,4,3] broadcast(a), dimensions={0,1,3})",
                   R"(
  p = f32[2,3] parameter(0)
  ROOT b = f32[2,1,4,3] broadcast(p), dimensions={0,3})");
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  a = f32[6] reshape(p)
  ROOT b = f32[4,6] broadcast(a), dimensions={1})");
}

TEST(AlgsimpBroadcast, OfAnIotaIsAnIota) {
  ExpectSimplifies(R"(
  i = s32[4] iota(), iota_dimension=0
  ROOT b = s32[3,4] broadcast(i), dimensions={1})",
                   R"(
  ROOT b = s32[3,4] iota(), iota_dimension=1)");
}

TEST(AlgsimpIota, OfOneElementIsZero) {
  ExpectSimplifies(R"(
  ROOT i = s32[1] iota(), iota_dimension=0)",
                   R"(
  ROOT c = s32[1] constant({0}))");
}

TEST(AlgsimpReshape, ComposesAndDrops) {
  ExpectSimplifies(R"(
  p = f32[2,6] parameter(0)
  a = f32[12] reshape(p)
  b = f32[3,4] reshape(a)
  ROOT c = f32[2,6] reshape(b))",
                   R"(
  ROOT p = f32[2,6] parameter(0))");
}

TEST(AlgsimpReshape, OfABroadcastIsABroadcast) {
  ExpectSimplifies(R"(
  p = f32[3] parameter(0)
  a = f32[2,4,3] broadcast(p), dimensions={2}
  ROOT b = f32[8,1,3] reshape(a))",
                   R"(
  p = f32[3] parameter(0)
  ROOT b = f32[8,1,3] broadcast(p), dimensions={2})");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  a = f32[3,4] broadcast(p), dimensions={1}
  ROOT b = f32[6,2] reshape(a))");
}

TEST(AlgsimpReshape, OfConstantsAndIotas) {
  ExpectSimplifies(R"(
  c = f32[4] constant({1, 2, 3, 4})
  ROOT b = f32[2,2] reshape(c))",
                   R"(
  ROOT c = f32[2,2] constant({{1, 2}, {3, 4}}))");
  ExpectSimplifies(R"(
  i = s32[4] iota(), iota_dimension=0
  ROOT b = s32[1,4] reshape(i))",
                   R"(
  ROOT i = s32[1,4] iota(), iota_dimension=1)");
}

TEST(AlgsimpReshape, DropsOnesThroughAReduction) {
  ExpectSimplifies(R"(
  p = f32[2,1,5] parameter(0)
  zero = f32[] constant(0)
  s = f32[2,1] reduce(p, zero), dimensions={2}, to_apply=sum
  ROOT r = f32[2] reshape(s))",
                   R"(
  p = f32[2,1,5] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[2] reduce(p, zero), dimensions={1,2}, to_apply=sum)");
}

TEST(AlgsimpTranspose, ComposesAndDrops) {
  ExpectSimplifies(R"(
  p = f32[2,3,4] parameter(0)
  a = f32[3,4,2] transpose(p), dimensions={1,2,0}
  ROOT b = f32[2,3,4] transpose(a), dimensions={2,0,1})",
                   R"(
  ROOT p = f32[2,3,4] parameter(0))");
}

TEST(AlgsimpTranspose, ThatMovesOnlyOnesIsAReshape) {
  ExpectSimplifies(R"(
  p = f32[2,1,4] parameter(0)
  ROOT a = f32[1,2,4] transpose(p), dimensions={1,0,2})",
                   R"(
  p = f32[2,1,4] parameter(0)
  ROOT a = f32[1,2,4] reshape(p))");
}

TEST(AlgsimpTranspose, OfABroadcastOrIota) {
  ExpectSimplifies(R"(
  p = f32[3] parameter(0)
  a = f32[2,3] broadcast(p), dimensions={1}
  ROOT b = f32[3,2] transpose(a), dimensions={1,0})",
                   R"(
  p = f32[3] parameter(0)
  ROOT b = f32[3,2] broadcast(p), dimensions={0})");
  ExpectSimplifies(R"(
  i = s32[2,3] iota(), iota_dimension=1
  ROOT b = s32[3,2] transpose(i), dimensions={1,0})",
                   R"(
  ROOT i = s32[3,2] iota(), iota_dimension=0)");
}

TEST(AlgsimpTranspose, OfADotSwapsOperands) {
  ExpectSimplifies(R"(
  a = f32[5,2,3] parameter(0)
  b = f32[5,3,4] parameter(1)
  d = f32[5,2,4] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT t = f32[5,4,2] transpose(d), dimensions={0,2,1})",
                   R"(
  a = f32[5,2,3] parameter(0)
  b = f32[5,3,4] parameter(1)
  ROOT d = f32[5,4,2] dot(b, a), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2})");
  ExpectKept(R"(
  a = f32[5,2,3] parameter(0)
  b = f32[5,3,4] parameter(1)
  d = f32[5,2,4] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT t = f32[2,5,4] transpose(d), dimensions={1,0,2})");
}

TEST(AlgsimpReverse, DropsWhatDoesNothing) {
  ExpectSimplifies(R"(
  p = f32[1,4] parameter(0)
  a = f32[1,4] reverse(p), dimensions={0}
  b = f32[1,4] reverse(a), dimensions={1}
  ROOT c = f32[1,4] reverse(b), dimensions={1})",
                   R"(
  ROOT p = f32[1,4] parameter(0))");
}

TEST(AlgsimpSlice, ComposesAndDrops) {
  ExpectSimplifies(R"(
  p = f32[20] parameter(0)
  a = f32[8] slice(p), slice={[2:18:2]}
  b = f32[3] slice(a), slice={[1:7:2]}
  ROOT c = f32[3] slice(b), slice={[0:3]})",
                   R"(
  p = f32[20] parameter(0)
  ROOT c = f32[3] slice(p), slice={[4:13:4]})");
}

TEST(AlgsimpSlice, ReadsThroughConcatenationPadAndBroadcast) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[6] parameter(1)
  c = f32[10] concatenate(p, q), dimensions={0}
  ROOT s = f32[2] slice(c), slice={[5:7]})",
                   R"(
  p = f32[4] parameter(0)
  q = f32[6] parameter(1)
  ROOT s = f32[2] slice(q), slice={[1:3]})");
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  c = f32[9] pad(p, z), padding=2_3
  ROOT s = f32[2] slice(c), slice={[3:5]})",
                   R"(
  p = f32[4] parameter(0)
  ROOT s = f32[2] slice(p), slice={[1:3]})");
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  c = f32[9,4] broadcast(p), dimensions={1}
  ROOT s = f32[2,4] slice(c), slice={[3:5], [0:4]})",
                   R"(
  p = f32[4] parameter(0)
  ROOT s = f32[2,4] broadcast(p), dimensions={1})");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  q = f32[6] parameter(1)
  c = f32[10] concatenate(p, q), dimensions={0}
  ROOT s = f32[2] slice(c), slice={[3:5]})");
}

TEST(AlgsimpSlice, CutsAnIotaShort) {
  ExpectSimplifies(R"(
  i = s32[9,4] iota(), iota_dimension=0
  ROOT s = s32[2,2] slice(i), slice={[0:2], [2:4]})",
                   R"(
  ROOT i = s32[2,2] iota(), iota_dimension=0)");
  ExpectKept(R"(
  i = s32[9] iota(), iota_dimension=0
  ROOT s = s32[2] slice(i), slice={[1:3]})");
}

TEST(AlgsimpPad, MergesAndDrops) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  a = f32[4] pad(p, z), padding=0_0
  b = f32[7] pad(a, z), padding=1_2
  ROOT c = f32[12] pad(b, z), padding=3_2)",
                   R"(
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT c = f32[12] pad(p, z), padding=4_4)");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  b = f32[3] pad(p, z), padding=0_-1
  ROOT c = f32[4] pad(b, z), padding=0_1)");
}

TEST(AlgsimpPad, OfItsOwnFillingIsABroadcast) {
  ExpectSimplifies(R"(
  z = f32[] parameter(0)
  a = f32[4] broadcast(z), dimensions={}
  ROOT b = f32[9] pad(a, z), padding=1_1_1)",
                   R"(
  z = f32[] parameter(0)
  ROOT b = f32[9] broadcast(z), dimensions={})");
}

TEST(AlgsimpConcatenate, FlattensAndDropsTheEmpty) {
  ExpectSimplifies(R"(
  p = f32[2] parameter(0)
  q = f32[0] parameter(1)
  s = f32[3] parameter(2)
  a = f32[5] concatenate(p, q, s), dimensions={0}
  ROOT b = f32[7] concatenate(a, p), dimensions={0})",
                   R"(
  p = f32[2] parameter(0)
  q = f32[0] parameter(1)
  s = f32[3] parameter(2)
  ROOT b = f32[7] concatenate(p, s, p), dimensions={0})");
}

TEST(AlgsimpConcatenate, JoinsAdjacentSlices) {
  ExpectSimplifies(R"(
  p = f32[9,2] parameter(0)
  a = f32[2,2] slice(p), slice={[1:3], [0:2]}
  b = f32[4,2] slice(p), slice={[3:7], [0:2]}
  ROOT c = f32[6,2] concatenate(a, b), dimensions={0})",
                   R"(
  p = f32[9,2] parameter(0)
  ROOT a = f32[6,2] slice(p), slice={[1:7], [0:2]})");
}

// A slice that something else reads joins those that nothing else does.
TEST(AlgsimpConcatenate, JoinsRunsOfSlices) {
  ExpectSimplifies(R"(
  p = f32[9] parameter(0)
  q = f32[9] parameter(1)
  a = f32[2] slice(p), slice={[1:3]}
  b = f32[2] slice(p), slice={[3:5]}
  c = f32[1] slice(p), slice={[5:6]}
  d = f32[1] slice(p), slice={[7:8]}
  e = f32[1] slice(p), slice={[8:9]}
  f = f32[1] slice(q), slice={[0:1]}
  g = f32[1] slice(q), slice={[1:2]}
  n = f32[2] negate(a)
  i = (f32[1], f32[1]) tuple(f, g)
  j = f32[9] concatenate(a, b, c, d, e, f, g), dimensions={0}
  ROOT r = (f32[2], (f32[1], f32[1]), f32[9]) tuple(n, i, j))",
                   R"(
  p = f32[9] parameter(0)
  q = f32[9] parameter(1)
  a = f32[2] slice(p), slice={[1:3]}
  c = f32[5] slice(p), slice={[1:6]}
  e = f32[2] slice(p), slice={[7:9]}
  f = f32[1] slice(q), slice={[0:1]}
  g = f32[1] slice(q), slice={[1:2]}
  n = f32[2] negate(a)
  i = (f32[1], f32[1]) tuple(f, g)
  j = f32[9] concatenate(c, e, f, g), dimensions={0}
  ROOT r = (f32[2], (f32[1], f32[1]), f32[9]) tuple(n, i, j))");
}

TEST(AlgsimpConcatenate, JoinsARunOfSlicesInOneRewrite) {
  constexpr int kSlices = 200;
  std::string body = absl::StrCat("p = f32[", kSlices + 1, "] parameter(0)\n");
  std::string parts;
  for (int i = 0; i < kSlices; ++i) {
    absl::StrAppend(&body, "s", i, " = f32[1] slice(p), slice={[", i, ":",
                    i + 1, "]}\n");
    absl::StrAppend(&parts, i == 0 ? "" : ", ", "s", i);
  }
  absl::StrAppend(&body, "ROOT c = f32[", kSlices, "] concatenate(", parts,
                  "), dimensions={0}");
  int rewrites = 0;
  Module module = ParseForTest(Entry(body));
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("algsimp"));
  HONE_ASSERT_OK_AND_ASSIGN(
      const bool changed,
      pass->Run(module, {.trace = [&](const RewriteEvent&) { ++rewrites; }}));
  EXPECT_TRUE(changed);
  EXPECT_EQ(module.entry_computation().live_count(), 2);
  EXPECT_EQ(rewrites, 1);
}

// Of a value with itself: flattened, it would have 2^30 operands.
TEST(ConcatenationsOfConcatenations, DoNotGrowWithoutBound) {
  constexpr int kLevels = 30;
  std::string body = "c0 = f32[1] parameter(0)\n";
  for (int i = 1; i <= kLevels; ++i) {
    absl::StrAppend(&body, i == kLevels ? "ROOT " : "", "c", i, " = f32[",
                    int64_t{1} << i, "] concatenate(c", i - 1, ", c", i - 1,
                    "), dimensions={0}\n");
  }
  for (const char* name : {"algsimp", "dynamic-dimension-simplifier"}) {
    SCOPED_TRACE(name);
    Module module = ParseForTest(Entry(body));
    HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(name));
    HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
    EXPECT_TRUE(changed);
    size_t most = 0;
    for (const Instruction& instruction :
         module.entry_computation().instructions()) {
      most = std::max(most, instruction.operand_count());
    }
    EXPECT_EQ(most, kMaxJoinedOperands);
  }
}

TEST(AlgsimpConcatenate, WithAFillingIsAPad) {
  ExpectSimplifies(R"(
  p = f32[2,3] parameter(0)
  z = f32[] constant(0)
  zs = f32[2,1] broadcast(z), dimensions={}
  ROOT c = f32[2,4] concatenate(zs, p), dimensions={1})",
                   R"(
  p = f32[2,3] parameter(0)
  z = f32[] constant(0)
  ROOT c = f32[2,4] pad(p, z), padding=0_0x1_0)");
}

}  // namespace
}  // namespace hone::hlo

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "loops/lowering/plan/module_plan.h"
#include "tests/loops/lowering/lowered.h"

namespace hone::loops {
namespace {

// Returns true if a kernel of the plan reads a matrix of 512 rows in blocks of
// 32 columns.
bool ReadsBlocks(const ModulePlan& plan) {
  for (const Program& kernel : plan.kernels) {
    for (const auto& buffer : kernel.buffers()) {
      if (buffer->memory == Memory::kArgument &&
          buffer->dimensions == hlo::DimensionVector{16, 512, 32}) {
        return true;
      }
    }
  }
  return false;
}

// COUNT times h = h · w, or h · wᵀ, and an epilogue.
std::string LoopText(int64_t count, bool is_transposed) {
  return absl::StrReplaceAll(ModuleText(R"(
  z = s32[] constant(0)
  h = f32[3,512] parameter(0)
  w = f32[512,512] parameter(1)
  state = (s32[], f32[3,512], f32[512,512]) tuple(z, h, w)
  l = (s32[], f32[3,512], f32[512,512]) while(state), condition=more, body=step
  ROOT r = f32[3,512] get-tuple-element(l), index=1)",
                                        R"(
step {
  state = (s32[], f32[3,512], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  h = f32[3,512] get-tuple-element(state), index=1
  w = f32[512,512] get-tuple-element(state), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  p = f32[3,512] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={DIMENSION}
  t = f32[3,512] tanh(p)
  ROOT r = (s32[], f32[3,512], f32[512,512]) tuple(next, t, w)
}
more {
  state = (s32[], f32[3,512], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(COUNT)
  ROOT c = pred[] compare(i, n), direction=LT
})"),
                             {{"COUNT", absl::StrCat(count)},
                              {"DIMENSION", is_transposed ? "1" : "0"}});
}

TEST(BlockMatrices, OfLoops) {
  for (const bool is_transposed : {false, true}) {
    const ModulePlan plan = ExpectPlansRight(LoopText(5, is_transposed));
    EXPECT_TRUE(ReadsBlocks(plan));
  }
}

TEST(BlockMatrices, NotOfAFewIterations) {
  EXPECT_FALSE(ReadsBlocks(ExpectPlansRight(LoopText(3, false))));
}

// A chain of products with the same matrix.
std::string ChainText(int64_t count) {
  std::string body =
      "h0 = f32[3,512] parameter(0)\n  w = f32[512,512] parameter(1)\n";
  for (int64_t i = 0; i < count; ++i) {
    absl::StrAppend(
        &body,
        absl::Substitute("  p$0 = f32[3,512] dot(h$0, w), "
                         "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                         "  $2h$1 = f32[3,512] tanh(p$0)\n",
                         i, i + 1, i + 1 == count ? "ROOT " : ""));
  }
  return ModuleText(body);
}

TEST(BlockMatrices, OfSeveralProducts) {
  EXPECT_TRUE(ReadsBlocks(ExpectPlansRight(ChainText(4))));
  EXPECT_FALSE(ReadsBlocks(ExpectPlansRight(ChainText(3))));
}

}  // namespace
}  // namespace hone::loops

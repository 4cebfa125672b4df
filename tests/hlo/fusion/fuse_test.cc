#include "hlo/fusion/fuse.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kLayer[] = R"(HloModule layer
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  x = f32[16,64] parameter(0)
  w = f32[64,32] parameter(1)
  b = f32[32] parameter(2)
  zero = f32[] constant(0)
  negative = f32[16,64] negate(x)
  product = f32[16,32] dot(negative, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bias = f32[16,32] broadcast(b), dimensions={1}
  sum = f32[16,32] add(product, bias), metadata={op_name="layer/add"}
  zeros = f32[16,32] broadcast(zero), dimensions={}
  relu = f32[16,32] maximum(sum, zeros), frontend_attributes={_part="relu"}
  total = f32[16] reduce(relu, zero), dimensions={1}, to_apply=add
  ROOT result = (f32[16,32], f32[16]) tuple(relu, total)
})";

TEST(Fuse, MakesAFusionOfEachKernelOfSeveralNodes) {
  const FusionSpace space(VerifiedModule(kLayer));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Module fused,
      Fuse(space,
           FuseNodes(space, {"negative", "product", "bias", "sum", "zeros"}),
           space.RowMajor()));
  HONE_ASSERT_OK(VerifyModule(fused));
  EXPECT_EQ(
      PrintModule(fused, {.layouts = false}),
      R"(HloModule layer, entry_computation_layout={(f32[16,64], f32[64,32], f32[32])->(f32[16,32], f32[16])}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

fused_computation {
  param_0 = f32[16,64] parameter(0)
  param_1 = f32[64,32] parameter(1)
  param_2 = f32[32] parameter(2)
  negative = f32[16,64] negate(param_0)
  product = f32[16,32] dot(negative, param_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bias = f32[16,32] broadcast(param_2), dimensions={1}
  sum = f32[16,32] add(product, bias), metadata={op_name="layer/add"}
  zero = f32[] constant(0)
  zeros = f32[16,32] broadcast(zero), dimensions={}
  ROOT relu = f32[16,32] maximum(sum, zeros), frontend_attributes={_part="relu"}
}

ENTRY main {
  x = f32[16,64] parameter(0)
  w = f32[64,32] parameter(1)
  b = f32[32] parameter(2)
  relu = f32[16,32] fusion(x, w, b), kind=kLoop, frontend_attributes={_part="relu"}, calls=fused_computation
  zero = f32[] constant(0)
  total = f32[16] reduce(relu, zero), dimensions={1}, to_apply=add
  ROOT result = (f32[16,32], f32[16]) tuple(relu, total)
}
)");
}

// What a kernel writes has its layout in the fusion, inside of it, and in the
// kernels that read it.
TEST(Fuse, LayoutsAreThoseOfWritersAndReaders) {
  const FusionSpace space(VerifiedModule(R"(HloModule m
ENTRY main {
  x = f32[4,8] parameter(0)
  a = f32[4,8] negate(x)
  b = f32[4,8] exponential(a)
  c = f32[4,8] tanh(b)
  ROOT d = f32[4,8] add(b, c)
})"));
  LayoutBits layouts = space.RowMajor();
  layouts[static_cast<size_t>(NodeNamed(space, "b"))] = 1;
  HONE_ASSERT_OK_AND_ASSIGN(const Module fused,
                            Fuse(space, FuseNodes(space, {"a", "c"}), layouts));
  HONE_ASSERT_OK(VerifyModule(fused));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Kernel> kernels,
                            KernelsOf(fused));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(
      PrintModule(kernels[0].module),
      R"(HloModule b, entry_computation_layout={(f32[4,8]{1,0})->f32[4,8]{0,1}}

ENTRY kernel {
  param_0 = f32[4,8]{1,0} parameter(0)
  a = f32[4,8]{1,0} negate(param_0)
  ROOT b = f32[4,8]{0,1} exponential(a)
}
)");
  EXPECT_EQ(
      PrintModule(kernels[1].module),
      R"(HloModule d, entry_computation_layout={(f32[4,8]{0,1})->f32[4,8]{1,0}}

ENTRY kernel {
  param_0 = f32[4,8]{0,1} parameter(0)
  c = f32[4,8]{1,0} tanh(param_0)
  ROOT d = f32[4,8]{1,0} add(param_0, c)
}
)");
  // Results keep theirs.
  layouts[static_cast<size_t>(NodeNamed(space, "d"))] = 1;
  EXPECT_THAT(Fuse(space, space.Unfused(), layouts),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("d: layout 1, expected 0")));
}

TEST(Fuse, RefusesWhatTheRulesDoNotAllow) {
  const FusionSpace space(VerifiedModule(kLayer));
  EXPECT_THAT(Fuse(space, FuseNodes(space, {"relu"}), space.RowMajor()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("relu: is fused, expected not to be")));
  EXPECT_THAT(Fuse(space, FusionBits(2), space.RowMajor()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("decision of 2 nodes")));
}

// A fused instruction that something dead reads stays, dead as well, and is no
// kernel.
TEST(Fuse, DeadReadersCountForNothing) {
  const FusionSpace space(VerifiedModule(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  dead = f32[4] tanh(a)
  ROOT b = f32[4] exponential(a)
})"));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Module fused,
      Fuse(space, FuseNodes(space, {"a"}), space.RowMajor()));
  HONE_ASSERT_OK(VerifyModule(fused));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Kernel> kernels,
                            KernelsOf(fused));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].module.entry_computation().live_count(), 3);
}

std::vector<Hash128> Sorted(std::vector<Hash128> hashes) {
  std::sort(hashes.begin(), hashes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.high, a.low) < std::pair(b.high, b.low);
  });
  return hashes;
}

// The kernels that MakeKernel makes of a decision, by fingerprint.
std::vector<Hash128> PlannedKernels(const FusionSpace& space,
                                    const FusionBits& fused,
                                    const LayoutBits& layouts) {
  KernelRules rules(space);
  std::vector<Hash128> hashes;
  for (size_t i = 0; i < space.size(); ++i) {
    const auto root = static_cast<FusionIndex>(i);
    if (fused[i] == kFused || space.node(root).role == FusionRole::kSource) {
      continue;
    }
    const std::vector<FusionIndex> members = rules.MembersOf(root, fused).nodes;
    absl::StatusOr<Module> kernel = MakeKernel(space, members, layouts);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    if (kernel.ok()) hashes.push_back(FastFingerprint(*kernel));
  }
  return Sorted(std::move(hashes));
}

// Returns true if the module has kernels before it is fused: the random ones
// may have control flow inside of a fusion.
bool Decomposes(const FusionSpace& space) {
  return KernelsOf(space.module()).ok();
}

// Checks all that holds of a fused module, but for what it computes.
Module CheckedFusion(const FusionSpace& space, const FusionBits& fused,
                     const LayoutBits& layouts,
                     std::vector<Kernel>* kernels = nullptr) {
  absl::StatusOr<Module> module = Fuse(space, fused, layouts);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return space.module();
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module);
  absl::StatusOr<std::vector<Kernel>> made = KernelsOf(*module);
  EXPECT_TRUE(made.ok()) << made.status();
  if (!made.ok()) return *module;
  std::vector<Hash128> hashes;
  for (const Kernel& kernel : *made) {
    EXPECT_TRUE(VerifyModule(kernel.module).ok())
        << VerifyModule(kernel.module);
    hashes.push_back(FastFingerprint(kernel.module));
    for (const Instruction& i :
         kernel.module.entry_computation().instructions()) {
      EXPECT_NE(i.opcode(), Opcode::kFusion);
      EXPECT_NE(i.opcode(), Opcode::kCall);
    }
  }
  EXPECT_EQ(Sorted(std::move(hashes)), PlannedKernels(space, fused, layouts));
  if (kernels != nullptr) *kernels = *std::move(made);
  return *std::move(module);
}

TEST(Fuse, RandomModulesComputeTheSameAndDecompose) {
  Rng rng(1);
  int fusions = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    testing::RandomModuleOptions options;
    options.set_amount(testing::Feature::kLayouts, seed % 3 == 0 ? 20 : 0);
    options.set_amount(testing::Feature::kLoops, seed % 4 == 0 ? 20 : 0);
    options.set_amount(testing::Feature::kBranches, seed % 5 == 0 ? 20 : 0);
    options.set_amount(testing::Feature::kFrontendAttributes, seed % 2 * 20);
    options.set_amount(testing::Feature::kControlDependencies,
                       seed % 6 == 0 ? 10 : 0);
    options.set_amount(testing::Feature::kOrigin, seed % 7 == 0 ? 20 : 0);
    const FusionSpace space(
        VerifiedModule(testing::RandomModuleText(seed, options)));
    if (!Decomposes(space)) continue;
    std::vector<Kernel> kernels;
    const Module fused = CheckedFusion(space, RandomFusion(space, rng),
                                       RandomLayouts(space, rng), &kernels);
    for (const Kernel& kernel : kernels) {
      fusions += kernel.module.entry_computation().live_count() > 4;
    }
    EquivalenceOptions few;
    few.covers_control_flow = false;
    HONE_ASSERT_OK_AND_ASSIGN(EquivalenceReport report,
                              CheckEquivalent(space.module(), fused, few));
    EXPECT_TRUE(report.equal) << report.explanation << PrintModule(fused);
    const Module composed = ComposeOfKernels(fused, kernels);
    HONE_ASSERT_OK(VerifyModule(composed));
    HONE_ASSERT_OK_AND_ASSIGN(report,
                              CheckEquivalent(space.module(), composed, few));
    EXPECT_TRUE(report.equal) << report.explanation << PrintModule(composed);
  }
  EXPECT_GT(fusions, 200);
}

// Features that the evaluator refuses.
TEST(Fuse, RandomModulesOfAnyKindVerify) {
  Rng rng(2);
  int checked = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    testing::RandomModuleOptions options = testing::RandomFeatures(seed);
    // Its arrays of dynamic size are no kernels.
    options.set_amount(testing::Feature::kDynamicShapes, 0);
    options.set_amount(testing::Feature::kEffects, 0);
    options.set_amount(testing::Feature::kFeeds, 0);
    const FusionSpace space(
        VerifiedModule(testing::RandomModuleText(seed, options)));
    if (!Decomposes(space)) continue;
    ++checked;
    CheckedFusion(space, RandomFusion(space, rng), RandomLayouts(space, rng));
  }
  EXPECT_GT(checked, 130);
}

TEST(Fuse, CorpusModulesVerifyAndDecompose) {
  Rng rng(3);
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    SCOPED_TRACE(entry.name);
    const FusionSpace space(VerifiedModule(entry.text));
    CheckedFusion(space, RandomFusion(space, rng), RandomLayouts(space, rng));
    CheckedFusion(space, FuseGreedily(space), space.RowMajor());
  }
}

TEST(Fuse, CorpusModulesComputeTheSame) {
  Rng rng(4);
  int checked = 0;
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    if (entry.name != "mlp.train" && entry.name != "gpt2_tiny.fwd" &&
        entry.name != "rnnlm_scan.fwd") {
      continue;
    }
    SCOPED_TRACE(entry.name);
    const FusionSpace space(VerifiedModule(entry.text));
    HONE_ASSERT_OK_AND_ASSIGN(
        const Module fused,
        Fuse(space, RandomFusion(space, rng), RandomLayouts(space, rng)));
    EquivalenceOptions one;
    one.mixed_inputs = one.adversarial_inputs = 0;
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                              CheckEquivalent(space.module(), fused, one));
    EXPECT_TRUE(report.equal) << report.explanation;
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

}  // namespace
}  // namespace hone::hlo

#include "hlo/fusion/fuse_by_priority.h"

#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/kernel_rules.h"
#include "hlo/fusion/kernels.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The time of the fused program; each region counts once, as what is fused in
// one does not change another.
double TotalTime(const FusionSpace& space, const FusionBits& fused) {
  absl::StatusOr<Module> module = Fuse(space, fused, space.RowMajor());
  EXPECT_TRUE(module.ok()) << module.status();
  absl::StatusOr<std::vector<Kernel>> kernels = KernelsOf(*module);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  double total = 0;
  for (const Kernel& kernel : *kernels) total += MadeUpTime(kernel.module);
  return total;
}

// The same method without anything incremental.
FusionBits Naive(const FusionSpace& space) {
  KernelRules rules(space);
  FusionBits fused = space.Unfused();
  const auto with = [&](FusionIndex node) {
    FusionBits result = fused;
    result[static_cast<size_t>(node)] = kFused;
    return result;
  };
  double now = TotalTime(space, fused);
  for (const FusionIndex node : space.fusible()) {
    if (!space.node(node).is_cheap || !rules.Check(with(node)).ok()) continue;
    const double after = TotalTime(space, with(node));
    if (after > now) continue;
    now = after;
    fused = with(node);
  }
  while (true) {
    std::pair<double, FusionIndex> best = {0, -1};
    for (const FusionIndex node : space.fusible()) {
      if (space.node(node).is_cheap || fused[static_cast<size_t>(node)] != 0 ||
          !rules.Check(with(node)).ok()) {
        continue;
      }
      const double saved = now - TotalTime(space, with(node));
      if (saved > 0 &&
          (saved > best.first || (saved == best.first && node < best.second))) {
        best = {saved, node};
      }
    }
    if (best.second < 0) return fused;
    now -= best.first;
    fused = with(best.second);
  }
}

TEST(FuseByPriority, IsWhatTheNaiveMethodFinds) {
  int fused_nodes = 0;
  int checked = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const FusionSpace space(
        VerifiedModule(testing::RandomModuleText(seed, {})));
    if (!KernelsOf(space.module()).ok()) continue;
    const FusionBits fused = FuseByPriority(space, MadeUpTime);
    EXPECT_EQ(fused, Naive(space));
    for (const uint8_t bit : fused) fused_nodes += bit;
    ++checked;
  }
  EXPECT_GT(checked, 30);
  EXPECT_GT(fused_nodes, 100);
}

TEST(FuseByPriority, AsksForEachKernelOnceAndForLegalOnesOnly) {
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    if (entry.name != "gpt2_2l.train" && entry.name != "unet.fwd") continue;
    SCOPED_TRACE(entry.name);
    const FusionSpace space(VerifiedModule(entry.text));
    std::set<std::pair<uint64_t, uint64_t>> seen;
    const FusionBits fused = FuseByPriority(space, [&](const Module& kernel) {
      const Hash128 hash = FastFingerprint(kernel);
      EXPECT_TRUE(seen.emplace(hash.low, hash.high).second);
      return MadeUpTime(kernel);
    });
    HONE_EXPECT_OK(KernelRules(space).Check(fused));
    EXPECT_LT(TotalTime(space, fused), TotalTime(space, space.Unfused()));
    EXPECT_EQ(fused, FuseByPriority(space, MadeUpTime));
    // Those that a step needs are asked for together.
    size_t kernels = 0;
    size_t steps = 0;
    EXPECT_EQ(fused,
              FuseByPriority(space, [&](const std::vector<Module>& together) {
                std::vector<double> times;
                for (const Module& kernel : together) {
                  times.push_back(MadeUpTime(kernel));
                }
                kernels += times.size();
                ++steps;
                return times;
              }));
    EXPECT_EQ(kernels, seen.size());
    EXPECT_LE(steps, space.fusible().size() + 1);
    EXPECT_LT(2 * steps, kernels);
  }
}

TEST(FuseByPriority, KernelsWithoutATimeAreNotMade) {
  const FusionSpace space(VerifiedModule(R"(HloModule m
ENTRY main {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] tanh(a)
  ROOT c = f32[64] sine(b)
})"));
  EXPECT_EQ(FuseByPriority(space, MadeUpTime), FuseNodes(space, {"a", "b"}));
  // tanh is in no kernel with another instruction.
  const auto no_tanh = [](const Module& kernel) {
    const Computation& computation = kernel.entry_computation();
    return computation.opcodes().Contains(Opcode::kTanh) &&
                   computation.live_count() > 2
               ? std::numeric_limits<double>::quiet_NaN()
               : MadeUpTime(kernel);
  };
  EXPECT_EQ(FuseByPriority(space, no_tanh), space.Unfused());
}

}  // namespace
}  // namespace hone::hlo

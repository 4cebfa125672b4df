#include "bench/cost_model/resize_kernel.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

#include "hlo/fusion/fuse.h"
#include "hlo/fusion/fusion_space.h"
#include "hlo/fusion/kernel_rules.h"
#include "hlo/fusion/kernels.h"
#include "hlo/inference/verifier.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

std::map<hlo::Opcode, int> Opcodes(const hlo::Module& module) {
  std::map<hlo::Opcode, int> counts;
  for (const hlo::Computation& computation : module.computations()) {
    for (const hlo::Instruction& instruction : computation.instructions()) {
      ++counts[instruction.opcode()];
    }
  }
  return counts;
}

TEST(ResizeKernel, KernelsOfRealProgramsComputeTheSameAtOtherSizes) {
  int kernels = 0;
  int resized = 0;
  for (const char* name : {"resnet18_b8.fwd", "gpt2_2l.fwd", "dlrm.train"}) {
    const hlo::Module module =
        *hlo::ReadModuleFile(std::string(HONE_SOURCE_DIR) +
                             "/bench/data/corpus/" + name + ".hlo.zst");
    const hlo::FusionSpace space(module);
    const hlo::Module fused =
        *hlo::Fuse(space, hlo::FuseGreedily(space), space.RowMajor());
    const auto all = hlo::KernelsOf(fused);
    HONE_ASSERT_OK(all.status());
    for (const hlo::Kernel& kernel : *all) {
      ++kernels;
      Rng rng(7);
      const auto other = ResizeKernel(kernel.module, rng);
      if (!other.has_value()) continue;
      ++resized;
      HONE_EXPECT_OK(hlo::VerifyModule(*other));
      EXPECT_NE(hlo::PrintModule(*other), hlo::PrintModule(kernel.module));
      EXPECT_EQ(Opcodes(*other), Opcodes(kernel.module));
      Rng again(7);
      EXPECT_EQ(hlo::PrintModule(*ResizeKernel(kernel.module, again)),
                hlo::PrintModule(*other));
    }
  }
  EXPECT_GT(resized, kernels * 3 / 4) << kernels;
}

TEST(ResizeKernel, KernelsWithoutLongDimensionsStay) {
  const hlo::Module module = *hlo::ParseHloText(R"(HloModule m

ENTRY e {
  a = f32[4,2] parameter(0)
  ROOT n = f32[4,2] negate(a)
})");
  Rng rng(0);
  EXPECT_FALSE(ResizeKernel(module, rng).has_value());
}

TEST(ResizeKernel, SlicesFollowTheirOperands) {
  const hlo::Module module = *hlo::ParseHloText(R"(HloModule m

ENTRY e {
  a = f32[64,96] parameter(0)
  ROOT s = f32[64,48] slice(a), slice={[0:64], [0:48]}
})");
  int changed = 0;
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    if (const auto other = ResizeKernel(module, rng)) {
      ++changed;
      HONE_EXPECT_OK(hlo::VerifyModule(*other));
    }
  }
  EXPECT_GE(changed, 18);
}

}  // namespace
}  // namespace hone::bench

#include "bench/cost_model/random_tpu_kernels.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/tpu_sim/simulator.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::IsOk;

TEST(RandomTpuKernels, AreValidAndRunOnATpu) {
  const backends::Tpu tpu = *backends::FindTpu("v4");
  std::set<std::string> families;
  for (int64_t number = 0; number < 120; ++number) {
    const NamedKernel kernel = DrawTpuKernel(7, number);
    SCOPED_TRACE(kernel.name + "\n" + kernel.module);
    families.insert(kernel.family);
    const auto module = hlo::ParseHloText(kernel.module);
    ASSERT_THAT(module, IsOk());
    ASSERT_THAT(hlo::VerifyModule(*module), IsOk());
    const backends::KernelSimulator simulator(*module, tpu);
    const auto time = simulator.Simulate(simulator.DefaultConfig());
    ASSERT_THAT(time, IsOk());
    EXPECT_GT(time->ns, 0);
    EXPECT_LT(time->ns, 1e12);
  }
  EXPECT_EQ(families.size(), TpuFamilies().size());
}

TEST(RandomTpuKernels, DependOnSeedAndNumberOnly) {
  std::set<std::string> names;
  for (int64_t number = 0; number < 100; ++number) {
    EXPECT_EQ(DrawTpuKernel(1, number).module, DrawTpuKernel(1, number).module);
    names.insert(DrawTpuKernel(1, number).name);
    names.insert(DrawTpuKernel(2, number).name);
  }
  EXPECT_GT(names.size(), 180);
}

}  // namespace
}  // namespace hone::bench

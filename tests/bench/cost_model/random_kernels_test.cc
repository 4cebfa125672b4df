#include "bench/cost_model/random_kernels.h"

#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/cost_analysis.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::IsOk;

using Draw = NamedKernel (*)(uint64_t seed, int64_t number);

class RandomKernels : public ::testing::TestWithParam<Draw> {
 protected:
  static NamedKernel Kernel(uint64_t seed, int64_t number) {
    return GetParam()(seed, number);
  }
};

INSTANTIATE_TEST_SUITE_P(
    , RandomKernels, ::testing::Values(Draw{DrawKernel}, Draw{DrawComposite}),
    [](const auto& kind) { return kind.index == 0 ? "Simple" : "Composite"; });

TEST_P(RandomKernels, AreValidAndLowerToPrograms) {
  const size_t all = ProductFamilies().size() + MapFamilies().size();
  const size_t expected =
      GetParam() == Draw{DrawKernel} ? all : CompositeFamilies().size();
  std::set<std::string> families;
  for (int64_t number = 0; number < 6 * static_cast<int64_t>(all); ++number) {
    const NamedKernel kernel = Kernel(7, number);
    SCOPED_TRACE(kernel.name + "\n" + kernel.module);
    families.insert(kernel.family);
    const auto module = hlo::ParseHloText(kernel.module);
    ASSERT_THAT(module, IsOk());
    ASSERT_THAT(hlo::VerifyModule(*module), IsOk());
    EXPECT_THAT(loops::LowerToProgram(*module), IsOk());
  }
  EXPECT_EQ(families.size(), expected);
}

TEST_P(RandomKernels, DependOnSeedAndNumberOnly) {
  EXPECT_EQ(Kernel(1, 8).module, Kernel(1, 8).module);
  std::set<std::string> names;
  for (int64_t number = 0; number < 200; ++number) {
    names.insert(Kernel(1, number).name);
    names.insert(Kernel(2, number).name);
  }
  EXPECT_GT(names.size(), 390);
}

// A name stands for one kernel, as it decides what a resumed run leaves out.
TEST_P(RandomKernels, HaveNamesThatTellThemApart) {
  std::map<std::string, std::string> modules;
  for (int64_t number = 0; number < 3000; ++number) {
    const NamedKernel kernel = Kernel(3, number);
    const auto [it, added] = modules.try_emplace(kernel.name, kernel.module);
    EXPECT_EQ(it->second, kernel.module) << kernel.name;
  }
}

TEST_P(RandomKernels, TakeABoundedAmountOfWork) {
  for (int64_t number = 0; number < 2000; ++number) {
    const NamedKernel kernel = Kernel(5, number);
    SCOPED_TRACE(kernel.name);
    const auto module = hlo::ParseHloText(kernel.module);
    ASSERT_THAT(module, IsOk());
    // Counted as if each element of a scan were a sum of its own.
    if (kernel.family == "scan") continue;
    const hlo::Costs costs = hlo::CostAnalysis(*module).ModuleCosts();
    EXPECT_LT(costs.flops, 4e8);
    EXPECT_LT(costs.bytes(), 4e8);
    EXPECT_GT(costs.flops + costs.bytes(), 2e4);
  }
}

}  // namespace
}  // namespace hone::bench

#include "backends/cpu/measure/kernel_bench.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kDouble[] = R"(kernel twice
argument x f32[64]
result y f32[64]
for i0 64
| y[i0] = x[i0] + x[i0]
)";

// Expected results are those of the same code, in memory that is zero.
TEST(KernelBench, FindsElementsThatAreNotWritten) {
  const std::string text = R"(kernel half
argument x f32[64]
result y f32[64]
for i0 32
| y[i0] = x[i0]
)";
  EXPECT_THAT(
      KernelBench::Create(text, KernelForm::kProgram, "", {}),
      StatusIs(absl::StatusCode::kInternal,
               HasSubstr("wrong_result, random input, result 0 element [32]")));
}

TEST(KernelBench, TimesSchedulesOnEitherPlacement) {
  for (const bool scatter : {false, true}) {
    SCOPED_TRACE(scatter);
    KernelBenchOptions options;
    options.pairs = 3;
    options.scatter = scatter;
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto bench,
        KernelBench::Create(kDouble, KernelForm::kProgram, "", options));
    const std::vector<KernelTiming> timings =
        bench->Measure({"vectorize 0", "split 0 100000"}, /*bar=*/0);
    ASSERT_EQ(timings.size(), 2u);
    EXPECT_EQ(timings[0].outcome, space::Outcome::kOk) << timings[0].message;
    EXPECT_GE(timings[0].samples_ns.size(), 1u);
    EXPECT_EQ(timings[1].outcome, space::Outcome::kInvalid);
  }
}

}  // namespace
}  // namespace hone::backends

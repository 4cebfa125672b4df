#include "backends/cpu/measure/kernel_bench.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
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

// A sum that loses most of a, which the difference gives back if the sum keeps
// the digits of f32.
constexpr char kCancellation[] = R"(HloModule m

ENTRY main {
  a = TYPE[8,32] parameter(0)
  hundred = TYPE[] constant(100)
  b = TYPE[8,32] broadcast(hundred), dimensions={}
  sum = TYPE[8,32] add(a, b)
  ROOT back = TYPE[8,32] subtract(sum, b)
}
)";

TEST(KernelBench, AcceptsWhatIsNearerToTheTruthThanTheEvaluator) {
  // In f16, code rounds as the evaluator does.
  for (const std::string type : {"bf16", "f16"}) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto bench,
        KernelBench::Create(
            absl::StrReplaceAll(kCancellation, {{"TYPE", type}}),
            KernelForm::kHlo, /*baseline_script=*/"", {}));
    const KernelTiming timing = bench->MeasureBaseline();
    EXPECT_EQ(timing.outcome, space::Outcome::kOk) << timing.message;
    EXPECT_LT(timing.max_rel_error, 0.02) << type;
  }
}

}  // namespace
}  // namespace hone::backends

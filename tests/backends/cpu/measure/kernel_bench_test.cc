#include "backends/cpu/measure/kernel_bench.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

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

#include "loops/schedules/default_schedule.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "backends/cpu/host.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/read_module.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/backends/native_program.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

// Kernels of bench/data/kernels, the smaller shapes.
constexpr const char* kKernels[] = {
    "adam_333x1001",           "attention_3x197x48",
    "batch_norm_5x37x29x31",   "batched_matmul_24x65x33x127",
    "bias_gelu_61x1537",       "column_sum_1001x777",
    "conv1x1_3x15x17x61_97",   "conv3x3_2x29x31x33_47",
    "conv7x7s2_1x113x97x3_48", "depthwise3x3_3x29x31x45_45",
    "gelu_erf_127x1001",       "gelu_tanh_127x1001",
    "layer_norm_511x1023",     "logsumexp_1024x1024",
    "matmul_250x333x127",      "matmul_bias_relu_61x785x333",
    "matvec_1001x2003",        "rms_norm_1024x768",
    "row_sum_1001x777",        "softmax_1024x1024",
    "swiglu_61x257x683",       "transpose_1001x777"};

class NativeDefaultSchedule : public ::testing::TestWithParam<const char*> {};

TEST_P(NativeDefaultSchedule, ComputesWhatTheEvaluatorDoes) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(absl::StrCat(HONE_SOURCE_DIR, "/bench/data/kernels/",
                                       GetParam(), ".hlo")));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::LowerToProgram(module));
  loops::Machine machine = DetectHost().machine;
  machine.threads = 2;
  HONE_ASSERT_OK_AND_ASSIGN(
      const loops::Program scheduled,
      loops::ApplyScript(program, loops::DefaultSchedule(program, machine)));
  for (hlo::ArgumentKind kind :
       {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kAdversarial}) {
    const std::vector<hlo::Literal> arguments =
        hlo::MakeArguments(module, kind, 1).value();
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                              hlo::Evaluate(module, arguments));
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                              ::hone::testing::RunNative(scheduled, arguments));
    const bool tuple = expected.shape().IsTuple();
    for (size_t i = 0; i < results.size(); ++i) {
      const hlo::Comparison comparison = hlo::CompareLiterals(
          tuple ? expected.elements()[i] : expected, results[i]);
      EXPECT_TRUE(comparison.equal)
          << "result " << i << " element " << comparison.worst.element << ": "
          << comparison.worst.b << ", expected " << comparison.worst.a;
    }
  }
}

// Otherwise a search would have nothing to choose.
TEST(DefaultSchedule, EveryChoiceMattersToSomeKernel) {
  std::vector<bool> matters(loops::kChoiceCount, false);
  for (const char* name :
       {"add_mul_1024x1024", "batch_norm_8x64x56x56", "column_sum_2048x2048",
        "matmul_4x1024x4096", "matmul_1024x1024x1024", "row_sum_2048x2048",
        "softmax_1024x1024", "softmax_4096x257", "layer_norm_511x1023",
        "depthwise3x3_8x56x56x64_64", "attention_8x512x64",
        "logsumexp_333x5003", "transpose_2048x1024"}) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const hlo::Module module,
        hlo::ReadModuleFile(absl::StrCat(
            HONE_SOURCE_DIR, "/bench/data/kernels/", name, ".hlo")));
    HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                              loops::LowerToProgram(module));
    const loops::Machine machine = DetectHost().machine;
    const auto by_rule = loops::DefaultSchedule(program, machine);
    for (size_t c = 0; c < loops::kChoiceCount; ++c) {
      for (int64_t value : loops::AllChoices()[c].values) {
        loops::Choices choices{};
        choices[c] = value;
        if (loops::DefaultSchedule(program, machine, choices) != by_rule) {
          matters[c] = true;
        }
      }
    }
  }
  for (size_t c = 0; c < loops::kChoiceCount; ++c) {
    EXPECT_TRUE(matters[c]) << loops::AllChoices()[c].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, NativeDefaultSchedule,
                         ::testing::ValuesIn(kKernels), [](const auto& tested) {
                           return std::string(tested.param);
                         });

}  // namespace
}  // namespace hone::backends

#include "backends/cpu/native_module.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "tests/loops/random_loops.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;

// Modules of bench/data/corpus: a training step, layers that repeat, loops.
class NativeCorpus : public ::testing::TestWithParam<const char*> {};

TEST_P(NativeCorpus, ComputesWhatTheEvaluatorDoes) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(absl::StrCat(HONE_SOURCE_DIR, "/bench/data/corpus/",
                                       GetParam(), ".hlo.zst")));
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, 1).value();
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                            hlo::Evaluate(module, arguments));
  HONE_ASSERT_OK_AND_ASSIGN(const auto native, NativeModule::Create(module, 2));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal result, native->Run(arguments));
  const hlo::Comparison comparison = hlo::CompareLiterals(expected, result);
  EXPECT_TRUE(comparison.equal)
      << "output " << comparison.worst.output << " element "
      << comparison.worst.element << ": " << comparison.worst.b << ", expected "
      << comparison.worst.a;
}

INSTANTIATE_TEST_SUITE_P(Corpus, NativeCorpus,
                         ::testing::Values("mlp.train", "gpt2_tiny.fwd",
                                           "gpt2_scan.fwd", "rnnlm_scan.fwd",
                                           "vae.train"));

TEST(NativeModule, LoopsUpdateArraysInPlace) {
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    const std::string text = testing::RandomLoopsText(seed);
    SCOPED_TRACE(text);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(text));
    const std::vector<hlo::Literal> arguments =
        hlo::RandomArguments(module, 1).value();
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                              hlo::Evaluate(module, arguments));
    HONE_ASSERT_OK_AND_ASSIGN(const auto native,
                              NativeModule::Create(module, 1));
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal result, native->Run(arguments));
  const hlo::Comparison comparison = hlo::CompareLiterals(expected, result);
    EXPECT_TRUE(comparison.equal)
        << "output " << comparison.worst.output << " element "
        << comparison.worst.element << ": " << comparison.worst.b
        << ", expected " << comparison.worst.a;
    if (HasFailure()) return;
  }
}

TEST(NativeModule, NamesWhatItCannotLower) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  ROOT strange = f32[4] custom-call(x), custom_call_target="unheard-of"
})"));
  const absl::Status status = NativeModule::Create(module, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("custom-call"));
  EXPECT_THAT(status.message(), HasSubstr("strange"));
}

}  // namespace
}  // namespace hone::backends

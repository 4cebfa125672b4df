#include "hlo/passes/lowering.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::CorpusModule;
using ::hone::testing::CorpusModules;
using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Modules larger than this take long under a sanitizer.
constexpr int64_t kMaxOps = 3000;

Module Read(const CorpusModule& module) {
  return *ReadModuleFile(hone::testing::CorpusPath(module.name));
}

class Lowering : public ::testing::TestWithParam<const char*> {
 protected:
  const Pipeline& lowering() const { return **FindLowering(GetParam()); }
};

TEST_P(Lowering, LeavesALoweredModuleAlone) {
  Rng rng(7);
  const std::vector<absl::string_view> passes = Passes().ids();
  for (const CorpusModule& corpus : CorpusModules()) {
    if (corpus.ops > kMaxOps) continue;
    Module module = Read(corpus);
    for (int order = 0; order < 2; ++order) {
      const Module lowered = Lowered(module, lowering());
      EXPECT_EQ(Fingerprint(Lowered(lowered, lowering())), Fingerprint(lowered))
          << corpus.name << " after " << 8 * order << " random passes";
      std::vector<std::string> some;
      for (int i = 0; i < 8; ++i) {
        some.emplace_back(passes[rng.Below(passes.size())]);
      }
      HONE_ASSERT_OK(RunPasses(module, some).status());
    }
  }
}

// So it does not matter whether an order contains the lowering.
TEST_P(Lowering, TheDefaultOrderContainsIt) {
  PipelineOptions options;
  options.rewrite.numerics = Numerics::kFast;
  for (const CorpusModule& corpus : CorpusModules()) {
    if (corpus.ops > kMaxOps) continue;
    Module module = Read(corpus);
    HONE_ASSERT_OK(RunPipeline(module, GetParam(), options).status());
    EXPECT_EQ(CountOps(Lowered(module, lowering())), CountOps(module))
        << corpus.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Lowering,
                         ::testing::Values("xla-cpu", "xla-gpu"),
                         [](const auto& target) {
                           return target.param == std::string("xla-cpu")
                                      ? "XlaCpu"
                                      : "XlaGpu";
                         });

// What an order saves by a form that the target cannot run is not saved.
TEST(Lowering, CountsWhatTheTargetAddsAgain) {
  const Module module = ParseForTest(R"(
HloModule m
ENTRY e {
  a = f32[2,3,4] parameter(0)
  b = f32[4,5] parameter(1)
  d = f32[2,3,5] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT r = f32[2,3,5] logistic(d)
})");
  HONE_ASSERT_OK_AND_ASSIGN(const Pipeline* const lowering,
                            FindLowering("xla-cpu"));
  const Module lowered = Lowered(module, *lowering);
  EXPECT_GT(CountOps(lowered), CountOps(module));
  for (const Instruction& instruction :
       lowered.entry_computation().instructions()) {
    EXPECT_NE(instruction.opcode(), Opcode::kLogistic);
    EXPECT_TRUE(instruction.opcode() != Opcode::kDot ||
                instruction.shape().dimensions().size() == 2);
  }
}

TEST(Lowering, IsOfAKnownTarget) {
  EXPECT_THAT(FindLowering("tpu"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'tpu'"), HasSubstr("xla-gpu"))));
}

}  // namespace
}  // namespace hone::hlo

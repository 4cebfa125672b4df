#include "bench/pass_fidelity.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "hlo/passes/registry.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Meaning = PairResult::Meaning;

// Two equal sums and an unused one.
constexpr char kBefore[] = R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  b = f32[4] add(p, p)
  unused = f32[4] negate(p)
  ROOT r = f32[4] multiply(a, b)
})";
constexpr char kWithoutUnused[] = R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  b = f32[4] add(p, p)
  ROOT r = f32[4] multiply(a, b)
})";
// Fewer than any pass of ours leaves.
constexpr char kEmpty[] = R"(HloModule m
ENTRY e {
  ROOT p = f32[4] parameter(0)
})";

const hlo::Pass& Dce() { return **hlo::FindPass("dce"); }

TEST(PassFidelity, CountsOperationsOnBothSides) {
  HONE_ASSERT_OK_AND_ASSIGN(const PairResult result,
                            JudgePassPair(Dce(), "m",
                                          {"dce", "0001.p.after_dce.before_x",
                                           kBefore, kWithoutUnused}));
  EXPECT_EQ(result.module, "m");
  EXPECT_EQ(result.state, "0001.p.after_dce.before_x");
  EXPECT_EQ(result.ops_in, 5);
  EXPECT_EQ(result.ops_xla, 4);
  EXPECT_EQ(result.ops_ours, 4);
  EXPECT_EQ(result.meaning, Meaning::kEqual);
}

TEST(PassFidelity, SaysWhatTheEvaluatorCannotRun) {
  constexpr char kOpaque[] = R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  ROOT r = f32[4] custom-call(p), custom_call_target="unheard-of"
})";
  HONE_ASSERT_OK_AND_ASSIGN(
      const PairResult result,
      JudgePassPair(Dce(), "m", {"dce", "s", kOpaque, kOpaque}));
  EXPECT_EQ(result.meaning, Meaning::kNotRunnable);
  EXPECT_THAT(result.explanation, HasSubstr("unheard-of"));
}

TEST(PassFidelity, SeesAChangedMeaning) {
  class Wrong final : public hlo::Pass {
   public:
    absl::string_view name() const override { return "wrong"; }
    absl::StatusOr<bool> Run(hlo::Module& module,
                             const hlo::RewriteOptions&) const override {
      hlo::Computation& entry = module.mutable_computation(module.entry());
      entry.set_root(entry[entry.root()].operand(0));
      return true;
    }
  };
  HONE_ASSERT_OK_AND_ASSIGN(
      const PairResult result,
      JudgePassPair(Wrong(), "m", {"wrong", "s", kBefore, kWithoutUnused}));
  EXPECT_EQ(result.meaning, Meaning::kUnequal);
  EXPECT_THAT(result.explanation, HasSubstr("differs"));
}

TEST(PassFidelity, FailsOnWhatItCannotRead) {
  EXPECT_FALSE(
      JudgePassPair(Dce(), "m", {"dce", "s", "HloModule", kBefore}).ok());
  EXPECT_FALSE(
      JudgePassPair(Dce(), "m", {"dce", "s", kBefore, "HloModule"}).ok());
}

class PassFidelityTable : public ::testing::Test {
 protected:
  void WriteDump() {
    std::ofstream file(directory_.path() + "/tiny.passes.zst");
    file << "=== 0001.p.after_pipeline-start.before_dce\n"
         << kBefore << "\n=== 0002.p.after_dce.before_cse\n"
         << kWithoutUnused << "\n=== 0003.p.after_cse.before_y\n"
         << kEmpty << "\n=== 0004.p.after_made-up.before_y\n"
         << kEmpty << "\n";
  }
  absl::StatusOr<nlohmann::ordered_json> Run(const std::string& only) {
    return RunPassFidelityBench({.dumps = directory_.path(), .only = only},
                                out_);
  }

  TemporaryDirectory directory_;
  std::ostringstream out_;
};

TEST_F(PassFidelityTable, HasARowPerPass) {
  WriteDump();
  HONE_ASSERT_OK_AND_ASSIGN(const auto document, Run(""));
  const std::string table = out_.str();
  EXPECT_THAT(table, ContainsRegex("dce +1 +1 +1 +5 +4 +4 +1 +0 +0  "
                                   "tiny/0002 4/4\n"));
  EXPECT_THAT(table, ContainsRegex("cse +1 +0 +0 +4 +1 +3 +1 +0 +0  "
                                   "tiny/0003 3/1\n"));
  EXPECT_THAT(table, ContainsRegex("made-up +1 +no pass of that name\n"));
  EXPECT_THAT(table, HasSubstr("tiny/0003.p.after_cse.before_y: in 4, XLA 1, "
                               "ours 3, equal\n"));

  ASSERT_EQ(document["passes"].size(), 3u);
  EXPECT_EQ(document["passes"][0]["pass"], "cse");
  EXPECT_EQ(document["passes"][0]["at_most_xla"], 0);
  EXPECT_EQ(document["passes"][0]["worst"]["ops_ours"], 3);
  EXPECT_EQ(document["passes"][2]["implemented"], false);
  EXPECT_EQ(document["unequal"], 0);
  ASSERT_EQ(document["findings"].size(), 1u);
  EXPECT_EQ(document["findings"][0]["state"], "0003.p.after_cse.before_y");
}

TEST_F(PassFidelityTable, CanBeOfOnePass) {
  WriteDump();
  HONE_ASSERT_OK_AND_ASSIGN(const auto document, Run("dce"));
  ASSERT_EQ(document["passes"].size(), 1u);
  EXPECT_EQ(document["passes"][0]["pass"], "dce");
  EXPECT_THAT(Run("algsimp"), testing::StatusIs(absl::StatusCode::kNotFound,
                                                HasSubstr("--only 'algsimp'")));
}

TEST_F(PassFidelityTable, NeedsDumps) {
  EXPECT_THAT(Run(""), testing::StatusIs(absl::StatusCode::kNotFound,
                                         HasSubstr("expected dumps")));
}

}  // namespace
}  // namespace hone::bench

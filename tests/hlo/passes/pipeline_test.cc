#include "hlo/passes/pipeline.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/passes/registry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kModule[] = R"(
HloModule m
f {
  a = f32[4] parameter(0)
  b = f32[4] negate(a)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  p = f32[4] parameter(0)
  x = f32[4] call(p), to_apply=f
  y = f32[4] call(p), to_apply=f
  ROOT r = f32[4] add(x, y)
})";

TEST(Pipeline, RunsPassesInOrderAndReportsEach) {
  Module module = ParseForTest(kModule);
  const std::vector<std::string> passes = {"cse", "call-inliner", "dce", "dce"};
  HONE_ASSERT_OK_AND_ASSIGN(const PipelineReport report,
                            RunPasses(module, passes, {.verify_each = true}));
  ASSERT_EQ(report.runs.size(), 4);
  EXPECT_TRUE(report.changed);
  EXPECT_TRUE(report.converged);
  const auto expect_run = [&](size_t i, absl::string_view pass, bool changed,
                              int64_t before, int64_t after) {
    EXPECT_EQ(report.runs[i].pass, pass);
    EXPECT_EQ(report.runs[i].changed, changed);
    EXPECT_EQ(report.runs[i].instructions_before, before);
    EXPECT_EQ(report.runs[i].instructions_after, after);
    EXPECT_GE(report.runs[i].duration, absl::ZeroDuration());
  };
  // cse merges the two negations in f and the two calls.
  expect_run(0, "cse", true, 7, 5);
  expect_run(1, "call-inliner", true, 5, 3);
  expect_run(2, "dce", false, 3, 3);
  expect_run(3, "dce", false, 3, 3);
}

TEST(Pipeline, RunsAStageUntilNothingChanges) {
  Module module = ParseForTest(kModule);
  const Pipeline pipeline = {"test", {{{"call-inliner", "cse", "dce"}, 25}}};
  HONE_ASSERT_OK_AND_ASSIGN(const PipelineReport report,
                            RunPipeline(module, pipeline));
  EXPECT_TRUE(report.converged);
  // A round that changes something and one that does not.
  EXPECT_EQ(report.runs.size(), 6);
  EXPECT_EQ(module.instruction_count(), 3);
}

TEST(Pipeline, SaysWhenAStageDoesNotConverge) {
  Module module = ParseForTest(kModule);
  // These two undo each other.
  const Pipeline pipeline = {
      "test", {{{"flatten-call-graph", "computation-deduplicator"}, 3}}};
  HONE_ASSERT_OK_AND_ASSIGN(const PipelineReport report,
                            RunPipeline(module, pipeline));
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.runs.size(), 6);
}

TEST(Pipeline, CompactsComputationsThatAreMostlyDead) {
  std::string text = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&text, "  dead.", i, " = f32[4] negate(p)\n");
  }
  text += "  n = f32[4] abs(p)\n  ROOT r = f32[4] add(n, p)\n}\n";
  Module module = ParseForTest(text);
  const Module fork = module;
  HONE_ASSERT_OK(RunPasses(module, {{"dce"}}, {.verify_each = true}));
  const Computation& entry = module.entry_computation();
  EXPECT_EQ(entry.slot_count(), 3);
  EXPECT_EQ(entry.live_count(), 3);
  EXPECT_EQ(fork.entry_computation().slot_count(), 23);
  EXPECT_EQ(Fingerprint(module), Fingerprint(ParseForTest(R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] abs(p)
  ROOT r = f32[4] add(n, p)
})")));
}

TEST(Pipeline, NamesWhatIsKnownWhenSomethingIsUnknown) {
  Module module = ParseForTest(kModule);
  const std::vector<std::string> passes = {"dce", "no-such-pass"};
  EXPECT_THAT(RunPasses(module, passes),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("no-such-pass"), HasSubstr("dce"))));
  EXPECT_EQ(Fingerprint(module), Fingerprint(ParseForTest(kModule)));
  EXPECT_THAT(RunPipeline(module, "no-such-pipeline"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("no-such-pipeline"),
                             HasSubstr("xla-cpu, xla-cpu-lowering"))));
}

TEST(Pipeline, NamedPipelinesConsistOfKnownPassesAndRun) {
  for (const Pipeline& pipeline : Pipelines()) {
    for (const PipelineStage& stage : pipeline.stages) {
      for (const std::string& pass : stage.passes) {
        HONE_EXPECT_OK(FindPass(pass)) << pipeline.name;
      }
    }
    Module module = ParseForTest(kModule);
    HONE_ASSERT_OK_AND_ASSIGN(
        const PipelineReport report,
        RunPipeline(module, pipeline.name, {.verify_each = true}));
    EXPECT_TRUE(report.converged);
    // A lowering does not simplify.
    if (absl::EndsWith(pipeline.name, "-lowering")) continue;
    EXPECT_TRUE(report.changed);
    EXPECT_LE(module.instruction_count(), 3) << pipeline.name;
  }
}

}  // namespace
}  // namespace hone::hlo

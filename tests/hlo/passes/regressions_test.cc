// Modules that once went wrong, through every pass and pipeline.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/owned_computations.h"
#include "hlo/text/parser.h"
#include "tests/hlo/passes/check_order.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

namespace fs = std::filesystem;

fs::path Folder() {
  return fs::path(HONE_SOURCE_DIR) / "tests/testdata/regressions";
}

std::vector<std::string> FileNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Folder())) {
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Module Read(const std::string& name) {
  std::ifstream stream(Folder() / absl::StrCat(name, ".hlo"));
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  absl::StatusOr<Module> module = ParseHloText(text, name);
  HONE_EXPECT_OK(module.status());
  if (!module.ok()) return Module();
  HONE_EXPECT_OK(VerifyModule(*module));
  return *std::move(module);
}

// The names with one of `parts`.
std::vector<std::string> FileNamesWith(const std::vector<std::string>& parts) {
  std::vector<std::string> names;
  for (const std::string& name : FileNames()) {
    if (absl::c_any_of(parts, [&](const std::string& part) {
          return absl::StrContains(name, part);
        })) {
      names.push_back(name);
    }
  }
  return names;
}

class Regressions : public ::testing::TestWithParam<std::string> {};
// Modules of which no pass may drop an annotation.
class AnnotatedRegressions : public Regressions {};
// Modules with computations that fusions or asynchronous operations own.
class OwningRegressions : public Regressions {};

TEST_P(Regressions, EveryPassKeepsTheMeaning) {
  const Module module = Read(GetParam());
  for (absl::string_view name : Passes().ids()) {
    SCOPED_TRACE(name);
    const auto failure = CheckOrder({module, {std::string(name)}}, FindPass,
                                    nullptr, {.extremes = true});
    EXPECT_FALSE(failure.has_value()) << failure->pass << failure->message;
  }
}

TEST_P(Regressions, EveryPassConverges) {
  const Module original = Read(GetParam());
  for (absl::string_view name : Passes().ids()) {
    SCOPED_TRACE(name);
    HONE_ASSERT_OK_AND_ASSIGN(const Pass* const pass, FindPass(name));
    Module module = original;
    bool changed = true;
    for (int round = 0; changed && round < kFixedPointRounds; ++round) {
      const absl::StatusOr<bool> result = pass->Run(module);
      HONE_EXPECT_OK(result.status());
      changed = result.ok() && *result;
      if (!VerifyModule(module).ok()) break;
    }
    EXPECT_FALSE(changed) << "still changes the module after "
                          << kFixedPointRounds << " rounds";
  }
}

TEST_P(Regressions, PipelinesVerifyAndConverge) {
  const Module original = Read(GetParam());
  for (const Pipeline& pipeline : Pipelines()) {
    SCOPED_TRACE(pipeline.name);
    Module module = original;
    PipelineOptions options;
    options.verify_each = true;
    const auto report = RunPipeline(module, pipeline, options);
    HONE_EXPECT_OK(report.status());
    if (!report.ok()) continue;
    EXPECT_TRUE(report->converged);
    std::vector<std::string> passes;
    for (const PassRun& run : report->runs) passes.push_back(run.pass);
    const auto failure =
        CheckOrder({original, passes}, FindPass, nullptr, {.extremes = true});
    EXPECT_FALSE(failure.has_value()) << failure->pass << failure->message;
  }
}

// The annotations of all instructions.
std::multiset<std::string> Annotations(const Module& module) {
  std::multiset<std::string> annotations;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (!IsAnnotated(instruction)) continue;
      for (const auto& [name, value] : instruction.attributes().others) {
        annotations.insert(absl::StrCat(name, "=", value));
      }
    }
  }
  return annotations;
}

TEST_P(AnnotatedRegressions, EveryPassKeepsAnnotations) {
  const Module original = Read(GetParam());
  const std::multiset<std::string> before = Annotations(original);
  EXPECT_FALSE(before.empty());
  for (absl::string_view name : Passes().ids()) {
    SCOPED_TRACE(name);
    HONE_ASSERT_OK_AND_ASSIGN(const Pass* const pass, FindPass(name));
    Module module = original;
    HONE_EXPECT_OK(pass->Run(module).status());
    const std::multiset<std::string> after = Annotations(module);
    EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(),
                              before.end()));
  }
}

// What owns its computation still does, alone, and it is as it was.
TEST_P(OwningRegressions, EveryPassKeepsOwnedComputations) {
  const Module original = Read(GetParam());
  for (absl::string_view name : Passes().ids()) {
    SCOPED_TRACE(name);
    HONE_ASSERT_OK_AND_ASSIGN(const Pass* const pass, FindPass(name));
    Module module = original;
    HONE_EXPECT_OK(pass->Run(module).status());
    std::map<ComputationId, int> callers;
    std::set<ComputationId> owned;
    for (const Computation& computation : module.computations()) {
      for (const Instruction& instruction : computation.instructions()) {
        for (ComputationId callee : instruction.called()) {
          ++callers[callee];
          if (OwnsCallees(instruction.opcode())) owned.insert(callee);
        }
      }
    }
    EXPECT_FALSE(owned.empty());
    for (ComputationId callee : owned) {
      EXPECT_EQ(callers[callee], 1);
      EXPECT_TRUE(Module::SharesComputation(module, original, callee));
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  return absl::StrReplaceAll(info.param, {{"-", "_"}});
}

INSTANTIATE_TEST_SUITE_P(All, Regressions, ::testing::ValuesIn(FileNames()),
                         TestName);
INSTANTIATE_TEST_SUITE_P(
    All, AnnotatedRegressions,
    ::testing::ValuesIn(FileNamesWith({"accuracy", "annotated", "sharding"})),
    TestName);
INSTANTIATE_TEST_SUITE_P(
    All, OwningRegressions,
    ::testing::ValuesIn(FileNamesWith({"async", "fusion"})), TestName);

}  // namespace
}  // namespace hone::hlo

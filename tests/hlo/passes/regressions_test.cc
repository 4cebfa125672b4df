// Modules that once went wrong, through every pass and pipeline.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
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

class Regressions : public ::testing::TestWithParam<std::string> {};

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

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  return absl::StrReplaceAll(info.param, {{"-", "_"}});
}

INSTANTIATE_TEST_SUITE_P(All, Regressions, ::testing::ValuesIn(FileNames()),
                         TestName);

}  // namespace
}  // namespace hone::hlo

// The conformance of every registered pass, on hand-made and real modules.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/compare_results.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

struct Sample {
  std::string name;
  Module module;
};

// The hand-made modules and small real ones, as read and with calls inlined,
// which shows most passes more.
const std::vector<Sample>& Samples() {
  static const auto* const samples = [] {
    namespace fs = std::filesystem;
    const fs::path root(HONE_SOURCE_DIR);
    std::vector<fs::path> files;
    for (const auto& entry :
         fs::directory_iterator(root / "tests/testdata/passes")) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const char* name : {"dlrm.fwd", "gpt2_tiny.train", "mlp.train",
                             "rnnlm_scan.fwd", "vae.train"}) {
      files.push_back(root / "bench/data/corpus" /
                      absl::StrCat(name, ".hlo.zst"));
    }
    auto* result = new std::vector<Sample>;
    for (const fs::path& file : files) {
      absl::StatusOr<Module> module = ReadModuleFile(file);
      HONE_EXPECT_OK(module);
      if (!module.ok()) continue;
      result->push_back({file.stem(), *module});
      Module inlined = *module;
      absl::StatusOr<PipelineReport> report =
          RunPasses(inlined, {{"call-inliner"}});
      HONE_EXPECT_OK(report);
      if (report.ok() && report->changed) {
        result->push_back({absl::StrCat(file.stem().string(), " inlined"),
                           std::move(inlined)});
      }
    }
    return result;
  }();
  return *samples;
}

// `b` was made from `a`. Modules that the evaluator cannot run pass.
void ExpectEquivalent(const Module& a, const Module& b) {
  absl::StatusOr<EquivalenceReport> report = CheckEquivalent(a, b);
  if (absl::IsUnimplemented(report.status())) return;
  HONE_ASSERT_OK(report);
  EXPECT_TRUE(report->equal) << report->explanation;
}

bool SharesEverything(const Module& a, const Module& b) {
  if (a.ComputationIds() != b.ComputationIds()) return false;
  for (ComputationId id : a.ComputationIds()) {
    if (!Module::SharesComputation(a, b, id)) return false;
  }
  return true;
}

class PassConformance : public ::testing::TestWithParam<std::string> {
 protected:
  const Pass& pass() const { return **FindPass(GetParam()); }
};

// Chains of 100,000 sums and negations, and shorter ones of sums of equal
// numbers and of tuples.
std::string LongChains() {
  constexpr int kLong = 100'000;
  constexpr int kShort = 10'000;
  std::string text =
      "HloModule m\n\nENTRY e {\n  a0 = f32[] parameter(0)\n"
      "  b0 = f32[] parameter(1)\n  c0 = f32[] parameter(2)\n"
      "  d0 = f32[] parameter(3)\n";
  for (int i = 1; i <= kLong; ++i) {
    absl::StrAppend(&text, "  a", i, " = f32[] add(a", i - 1, ", b0)\n  c", i,
                    " = f32[] negate(c", i - 1, ")\n");
    if (i > kShort) continue;
    absl::StrAppend(&text, "  b", i, " = f32[] add(b", i - 1, ", b", i - 1,
                    ")\n  t", i, " = (f32[]) tuple(d", i - 1, ")\n  d", i,
                    " = f32[] get-tuple-element(t", i, "), index=0\n");
  }
  return absl::StrCat(text, "  ROOT r = (f32[], f32[], f32[], f32[]) tuple(a",
                      kLong, ", b", kShort, ", c", kLong, ", d", kShort,
                      ")\n}\n");
}

TEST_P(PassConformance, IsNamedAsRegistered) {
  EXPECT_EQ(pass().name(), GetParam());
}

TEST_P(PassConformance, ReportsChangesTruthfully) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    Module module = sample.module;
    HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass().Run(module));
    if (changed) {
      HONE_EXPECT_OK(VerifyModule(module));
      EXPECT_NE(FastFingerprint(module), FastFingerprint(sample.module));
    } else {
      EXPECT_TRUE(SharesEverything(module, sample.module));
    }
  }
}

TEST_P(PassConformance, KeepsTheMeaning) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    Module module = sample.module;
    HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass().Run(module));
    if (changed) ExpectEquivalent(sample.module, module);
  }
}

// A pass that calls itself exact keeps every bit whatever is permitted, and any
// other one does where only exact rewrites are.
TEST_P(PassConformance, KeepsEveryBitWhereItSaysSo) {
  RewriteOptions options;
  for (const PassEntry& entry : Passes()) {
    if (entry.id != GetParam()) continue;
    options.numerics = entry.numeric_class == NumericClass::kExact
                           ? Numerics::kFast
                           : Numerics::kExact;
  }
  std::vector<Sample> samples = Samples();
  HONE_ASSERT_OK_AND_ASSIGN(
      Module contractions,
      ReadModuleFile(
          absl::StrCat(HONE_SOURCE_DIR, "/tests/testdata/contractions.hlo")));
  samples.push_back({"contractions", std::move(contractions)});
  EvaluateOptions evaluate;
  evaluate.max_loop_steps = 10'000;
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.name);
    Module module = sample.module;
    HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass().Run(module, options));
    if (!changed) continue;
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments,
                              RandomArguments(module, 0));
    const absl::StatusOr<Literal> before =
        Evaluate(sample.module, arguments, evaluate);
    if (absl::IsUnimplemented(before.status())) continue;
    HONE_ASSERT_OK(before);
    HONE_ASSERT_OK_AND_ASSIGN(const Literal after,
                              Evaluate(module, arguments, evaluate));
    EXPECT_EQ(DifferenceInBits(*before, after), std::nullopt);
  }
}

TEST_P(PassConformance, IsDeterministic) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    Module a = sample.module;
    Module b = sample.module;
    HONE_ASSERT_OK(pass().Run(a));
    HONE_ASSERT_OK(pass().Run(b));
    EXPECT_EQ(PrintModule(a), PrintModule(b));
  }
}

// Deeper than the stack, if a pass followed it by recursion.
TEST_P(PassConformance, FollowsLongChains) {
  static const Module& chains =
      *new Module(*ParseHloText(LongChains(), "chains.hlo"));
  Module module = chains;
  HONE_EXPECT_OK(pass().Run(module).status());
}

TEST_P(PassConformance, LeavesTheSignatureAlone) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    Module module = sample.module;
    HONE_ASSERT_OK(pass().Run(module));
    const Computation& before = sample.module.entry_computation();
    const Computation& after = module.entry_computation();
    ASSERT_EQ(after.parameters().size(), before.parameters().size());
    for (size_t i = 0; i < before.parameters().size(); ++i) {
      EXPECT_TRUE(Shape::Equal(after[after.parameters()[i]].shape(),
                               before[before.parameters()[i]].shape()));
    }
    EXPECT_TRUE(Shape::Equal(after[after.root()].shape(),
                             before[before.root()].shape()));
  }
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  return absl::StrReplaceAll(info.param, {{"-", "_"}});
}

std::vector<std::string> Names() {
  const auto names = Passes().ids();
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(All, PassConformance, ::testing::ValuesIn(Names()),
                         TestName);

// A source without a header holds one pass and is named after it; in algsimp/
// it holds a family of rules of the one pass.
TEST(PassRegistry, HasEveryFileOfTheFolders) {
  namespace fs = std::filesystem;
  const fs::path passes = fs::path(HONE_SOURCE_DIR) / "hlo/passes";
  std::set<std::string> files = {"algsimp"};
  for (const char* folder :
       {"control_flow", "expanders", "movement", "simplifiers"}) {
    for (const auto& entry : fs::directory_iterator(passes / folder)) {
      const fs::path& file = entry.path();
      if (file.extension() != ".cc") continue;
      if (fs::exists(fs::path(file).replace_extension(".h"))) continue;
      files.insert(file.stem());
    }
  }
  std::set<std::string> registered;
  for (const std::string& name : Names()) {
    registered.insert(absl::StrReplaceAll(name, {{"-", "_"}}));
  }
  EXPECT_EQ(files, registered);
}

TEST(PassRegistry, NamesTheKnownPassesWhenOneIsUnknown) {
  EXPECT_THAT(FindPass("no-such-pass"),
              testing::StatusIs(
                  absl::StatusCode::kNotFound,
                  ::testing::HasSubstr(absl::StrJoin(Passes().ids(), ", "))));
}

TEST(PassOrders, RandomOnesKeepTheMeaning) {
  constexpr int kSequences = 10;
  constexpr int kLength = 15;
  Rng rng(20);
  const std::vector<std::string> names = Names();
  for (int sequence = 0; sequence < kSequences; ++sequence) {
    std::vector<std::string> passes;
    for (int i = 0; i < kLength; ++i) {
      passes.push_back(names[rng.Below(names.size())]);
    }
    SCOPED_TRACE(absl::StrJoin(passes, ","));
    for (const Sample& sample : Samples()) {
      SCOPED_TRACE(sample.name);
      Module module = sample.module;
      HONE_ASSERT_OK_AND_ASSIGN(
          const PipelineReport report,
          RunPasses(module, passes, {.verify_each = true}));
      if (!report.changed) continue;
      EXPECT_LE(CountOps(module), 2 * CountOps(sample.module));
      ExpectEquivalent(sample.module, module);
    }
  }
}

TEST(PassOrders, NamedPipelinesConvergeAndKeepTheMeaning) {
  for (const Pipeline& pipeline : Pipelines()) {
    SCOPED_TRACE(pipeline.name);
    for (const Sample& sample : Samples()) {
      SCOPED_TRACE(sample.name);
      Module module = sample.module;
      HONE_ASSERT_OK_AND_ASSIGN(
          const PipelineReport report,
          RunPipeline(module, pipeline, {.verify_each = true}));
      EXPECT_TRUE(report.converged);
      // A lowering adds operations.
      if (!absl::EndsWith(pipeline.name, "-lowering")) {
        EXPECT_LE(CountOps(module), CountOps(sample.module));
      }
      ExpectEquivalent(sample.module, module);
    }
  }
}

}  // namespace
}  // namespace hone::hlo

// The task tile: kernels of modules on simulated TPUs.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "backends/tpu_sim/tpu_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/status_matchers.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// Three equal layers.
constexpr char kLayers[] = R"(HloModule layers

ENTRY e {
  a = f32[64,256] parameter(0)
  w = f32[256,256] parameter(1)
  d1 = f32[64,256] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t1 = f32[64,256] tanh(d1)
  d2 = f32[64,256] dot(t1, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t2 = f32[64,256] tanh(d2)
  d3 = f32[64,256] dot(t2, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t3 = f32[64,256] tanh(d3)
})";

class TileTaskTest : public ::testing::Test {
 protected:
  TileTaskTest() { options_.tpu = *backends::FindTpu("v4"); }

  const Task& task() const { return **FindTask("tile"); }
  std::unique_ptr<space::Problem> Make() const {
    auto problem = task().MakeProblem(subject_, options_, {.target = "tpu"});
    HONE_EXPECT_OK(problem.status());
    return *std::move(problem);
  }

  const Subject subject_ = Subject(*hlo::ParseHloText(kLayers));
  TaskOptions options_;
};

TEST_F(TileTaskTest, EqualKernelsAreDecidedTogether) {
  const auto problem = Make();
  const auto module = backends::PrepareForTpu(subject_.module(), *options_.tpu);
  HONE_ASSERT_OK(module.status());
  ASSERT_EQ(module->kernels.size(), 1);
  EXPECT_EQ(module->kernels[0].places.size(), 3);
  EXPECT_EQ(module->kernels[0].executions, 3);
  const auto measured = problem->Measure(problem->DefaultCandidate());
  HONE_ASSERT_OK(measured.status());
  EXPECT_EQ(measured->samples.size(), module->kernels.size());
  double sum = 0;
  for (const backends::TpuKernel& kernel : module->kernels) {
    sum +=
        kernel.executions * backends::DefaultNs(*kernel.module, *options_.tpu);
  }
  EXPECT_NEAR(measured->cost, sum, 1e-6 * sum);
}

TEST_F(TileTaskTest, ADecisionIsWrittenIntoTheModuleAndReadBack) {
  const auto problem = Make();
  space::Candidate candidate = problem->DefaultCandidate();
  // Another number of buffers for each kernel: the variable before the last.
  size_t last = candidate.choices.size();
  candidate.choices[last - 2] = 0;
  const auto applied = task().Apply(subject_, *problem, candidate);
  HONE_ASSERT_OK(applied.status());
  ASSERT_TRUE(applied->module.has_value());
  const std::string text = hlo::PrintModule(*applied->module);
  EXPECT_THAT(text, HasSubstr("frontend_attributes={hone_tile="));
  HONE_EXPECT_OK(hlo::ParseHloText(text).status());
  const auto json = nlohmann::json::parse(applied->decision);
  EXPECT_FALSE(json["kernels"].empty());
  for (const auto& kernel : json["kernels"]) {
    EXPECT_THAT(kernel["config"].get<std::string>(), HasSubstr("buffers="));
  }
  EXPECT_EQ(task().CandidateOf(*problem, applied->decision), candidate);
  EXPECT_EQ(task().CandidateOf(*problem, "{}"), std::nullopt);
  EXPECT_EQ(task().CandidateOf(*problem, "{\"kernels\": [1]}"), std::nullopt);
  EXPECT_EQ(task().CandidateOf(*problem,
                               "{\"kernels\": [{\"instruction\": \"none\", "
                               "\"config\": \"output=8,128\"}]}"),
            std::nullopt);
}

TEST_F(TileTaskTest, AWinnerIsMeasuredAndVerified) {
  const auto problem = Make();
  const auto winner =
      task().Judge(subject_, *problem, problem->DefaultCandidate(), {});
  HONE_ASSERT_OK(winner.status());
  EXPECT_EQ(winner->cost, problem->Measure(problem->DefaultCandidate())->cost);
  EXPECT_THAT(winner->verification.method, HasSubstr("evaluator"));
}

TEST_F(TileTaskTest, TheTpuIsPartOfTheKey) {
  const auto key = task().OptionsKey(options_);
  HONE_ASSERT_OK(key.status());
  const auto parsed = ParseOptionsKey(*key);
  HONE_ASSERT_OK(parsed.status());
  EXPECT_EQ(parsed->tpu, options_.tpu);
  TaskOptions other;
  other.tpu = *backends::FindTpu("v3");
  EXPECT_NE(*task().OptionsKey(other), *key);
  EXPECT_THAT(task().OptionsKey({}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no TPU, expected the description of one")));
  EXPECT_THAT(ParseOptionsKey("tpu_sim=0").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("simulator of TPUs")));
}

TEST_F(TileTaskTest, AModuleThatComputesNothingHasNoKernels) {
  const Subject nothing(*hlo::ParseHloText(
      "HloModule nothing\n\nENTRY e {\n  ROOT a = f32[4] parameter(0)\n}\n"));
  EXPECT_THAT(task().MakeProblem(nothing, options_, {.target = "tpu"}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nothing: no kernels, expected a module")));
}

}  // namespace
}  // namespace hone::tuning

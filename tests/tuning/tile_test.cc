// The task tile: kernels of modules on simulated TPUs.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "backends/tpu_sim/tpu_module.h"
#include "base/rng.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "space/separable_problem.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/scripted_kernels.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  std::unique_ptr<space::Problem> Make(
      backends::KernelMeasurer* kernels = nullptr,
      const std::function<bool()>& stop = nullptr) const {
    auto problem =
        task().MakeProblem(subject_, options_,
                           {.target = "tpu", .kernels = kernels, .stop = stop});
    HONE_EXPECT_OK(problem.status());
    return *std::move(problem);
  }

  const Subject subject_ = Subject(*hlo::ParseHloText(kLayers));
  TaskOptions options_;
};

// The default, some at random, of which some overflow, and one that is none.
std::vector<space::Candidate> SomeCandidates(const space::Problem& problem,
                                             int at_random = 40) {
  const auto& tiles = dynamic_cast<const space::SeparableProblem&>(problem);
  std::vector<space::Candidate> candidates = {problem.DefaultCandidate()};
  Rng rng(1);
  for (int i = 0; i < at_random; ++i) {
    space::Candidate& candidate = candidates.emplace_back();
    for (const space::VariableGroup& group : tiles.groups()) {
      candidate.choices.push_back(
          static_cast<int32_t>(rng.Below(static_cast<uint64_t>(group.domain))));
    }
  }
  candidates.push_back({{-1}});
  return candidates;
}

void ExpectSame(const std::vector<space::Measurement>& a,
                const std::vector<space::Measurement>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].outcome, b[i].outcome) << i;
    EXPECT_EQ(a[i].cost, b[i].cost) << i;
    EXPECT_EQ(a[i].samples, b[i].samples) << i;
    EXPECT_EQ(a[i].message, b[i].message) << i;
    EXPECT_EQ(a[i].violation, b[i].violation) << i;
  }
}

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

// A module that was tuned before, whose tile is the default then, one with a
// tile that cannot be chosen, and one with other attributes or none.
TEST_F(TileTaskTest, AModuleHasOneConfigurationForEachKernel) {
  for (const auto& [before, after] :
       std::vector<std::pair<std::string, std::string>>{
           {"{}", "={hone_tile=\"output=64,256 "},
           {"{hone_tile=\"output=8,129\"}", "={hone_tile=\"output=64,256 "},
           {"{hone_tile=\"output=8,128 order=row buffers=1 unroll=4\"}",
            "={hone_tile=\"output=8,128 order=row buffers=1 "},
           {"{a=\"1, 2\",hone_tile=\"output=8,128 order=row\",b=\"x\\\"y\"}",
            "={a=\"1, 2\",b=\"x\\\"y\",hone_tile=\"output=8,128 "}}) {
    const Subject subject(*hlo::ParseHloText(absl::StrCat(R"(HloModule m

ENTRY e {
  a = f32[64,256] parameter(0)
  ROOT t = f32[64,256] tanh(a), frontend_attributes=)",
                                                          before, "\n}")));
    auto problem = task().MakeProblem(subject, options_, {.target = "tpu"});
    HONE_ASSERT_OK(problem.status());
    const auto applied =
        task().Apply(subject, **problem, (*problem)->DefaultCandidate());
    HONE_ASSERT_OK(applied.status());
    const std::string text = hlo::PrintModule(*applied->module);
    EXPECT_THAT(text, HasSubstr(after)) << before;
    EXPECT_EQ(text.find("hone_tile"), text.rfind("hone_tile")) << text;
  }
}

// A tile that fits and is not among those that are tried.
TEST_F(TileTaskTest, ATileThatCannotBeChosenIsNoDefault) {
  const auto default_of = [&](const std::string& tile) {
    const Subject subject(*hlo::ParseHloText(absl::StrCat(
        "HloModule m\n\nENTRY e {\n  a = f32[4096,256] parameter(0)\n"
        "  ROOT t = f32[4096,256] tanh(a), frontend_attributes={",
        tile, "}\n}\n")));
    auto problem = task().MakeProblem(subject, options_, {.target = "tpu"});
    HONE_EXPECT_OK(problem.status());
    return (*problem)->DefaultCandidate();
  };
  const space::Candidate by_default = default_of("");
  EXPECT_EQ(default_of("hone_tile=\"output=1000,256\""), by_default);
  EXPECT_NE(default_of("hone_tile=\"output=1024,256\""), by_default);
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

TEST_F(TileTaskTest, AWorkerMeasuresWhatThisProcessWouldSimulate) {
  // So that some tiles overflow.
  options_.tpu->vmem_bytes = 256 << 10;
  ScriptedKernels worker;
  worker.Offer(*options_.tpu);
  worker.machines = {"lab"};
  const auto here = Make();
  const auto there = Make(&worker);
  const std::vector<space::Candidate> candidates = SomeCandidates(*here);
  const auto simulated = here->MeasureBatch(candidates);
  const auto measured = there->MeasureBatch(candidates);
  HONE_ASSERT_OK(simulated.status());
  HONE_ASSERT_OK(measured.status());
  ExpectSame(*measured, *simulated);
  EXPECT_GT(std::count_if(
                measured->begin(), measured->end(),
                [](const space::Measurement& m) { return m.violation > 0; }),
            0);
  // One request for each kernel.
  EXPECT_EQ(worker.requests.size(),
            dynamic_cast<const space::SeparableProblem&>(*there).part_count());
  EXPECT_EQ(worker.requests[0].candidate_scripts.size(), candidates.size() - 1);
  EXPECT_EQ(worker.requests[0].baseline_script,
            worker.requests[0].candidate_scripts[0]);
  const auto winner =
      task().Judge(subject_, *there, there->DefaultCandidate(), {});
  HONE_ASSERT_OK(winner.status());
  EXPECT_EQ(winner->cost, simulated->front().cost);
  EXPECT_THAT(winner->verification.measured_by, ElementsAre("lab"));
}

// The kernels of programs keep their times when they travel as text.
TEST_F(TileTaskTest, AWorkerMeasuresTheKernelsOfTheCorpus) {
  ScriptedKernels worker;
  worker.Offer(*options_.tpu);
  const std::set<std::string> names = {"mlp.train", "moe_2l.fwd", "dlrm.fwd",
                                       "vgg.fwd"};
  size_t found = 0;
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    if (!names.contains(entry.name)) continue;
    ++found;
    const Subject subject(*hlo::ParseHloText(entry.text));
    const auto here = task().MakeProblem(subject, options_, {.target = "tpu"});
    const auto there = task().MakeProblem(
        subject, options_, {.target = "tpu", .kernels = &worker});
    HONE_ASSERT_OK(here.status());
    HONE_ASSERT_OK(there.status());
    const std::vector<space::Candidate> candidates =
        SomeCandidates(**here, /*at_random=*/3);
    const auto measured = (*there)->MeasureBatch(candidates);
    HONE_ASSERT_OK(measured.status());
    ExpectSame(*measured, *(*here)->MeasureBatch(candidates));
  }
  EXPECT_EQ(found, names.size());
  EXPECT_FALSE(worker.requests.empty());
}

TEST_F(TileTaskTest, WithoutAWorkerForTheTpuThisProcessSimulates) {
  ScriptedKernels worker;
  worker.Offer(*backends::FindTpu("v3"));
  const auto problem = Make(&worker);
  const auto winner =
      task().Judge(subject_, *problem, problem->DefaultCandidate(), {});
  HONE_ASSERT_OK(winner.status());
  EXPECT_THAT(worker.requests, IsEmpty());
  EXPECT_THAT(winner->verification.measured_by, IsEmpty());
}

TEST_F(TileTaskTest, WhenTheWorkerFailsThisProcessGoesOn) {
  for (const absl::Status& error :
       {absl::UnavailableError("no worker offers it"),
        absl::DeadlineExceededError("it hangs"),
        absl::InternalError("the work was lost with 3 workers")}) {
    ScriptedKernels worker;
    worker.Offer(*options_.tpu);
    const auto problem = Make(&worker);
    worker.error = error;
    const std::vector<space::Candidate> candidates = SomeCandidates(*problem);
    const auto measured = problem->MeasureBatch(candidates);
    HONE_ASSERT_OK(measured.status());
    EXPECT_FALSE(worker.requests.empty());
    ExpectSame(*measured, *Make()->MeasureBatch(candidates));
  }
}

TEST_F(TileTaskTest, ErrorsOfTheWorkAndAStopEndTheMeasurement) {
  ScriptedKernels worker;
  worker.Offer(*options_.tpu);
  bool stops = false;
  const auto problem = Make(&worker, [&] { return stops; });
  worker.error = absl::InvalidArgumentError("spoiled");
  EXPECT_THAT(
      problem->Measure(problem->DefaultCandidate()).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spoiled")));
  worker.error = absl::OkStatus();
  stops = true;
  EXPECT_THAT(problem->Measure(problem->DefaultCandidate()).status(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
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

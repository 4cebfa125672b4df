#include "tuning/tasks/tpu_fusion_task.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/kernels.h"
#include "hlo/inference/verifier.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/tpu_fusion_problem.h"

namespace hone::tuning {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TpuFusionOptions MadeUp(const TaskOptions&, const TaskContext&) {
  return {.timer = TimeOneByOne(hlo::MadeUpTime)};
}

constexpr char kModule[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  x = f32[16,32] parameter(0)
  y = f32[16,32] parameter(1)
  zero = f32[] constant(0)
  n = f32[16,32] negate(x)
  m = f32[16,32] multiply(n, y)
  e = f32[16,32] exponential(m)
  s = f32[16] reduce(e, zero), dimensions={1}, to_apply=add
  b = f32[16,32] broadcast(s), dimensions={0}
  ROOT d = f32[16,32] divide(e, b)
})";

std::unique_ptr<space::Problem> ProblemOf(const TpuFusionTask& task,
                                          const Subject& subject) {
  auto problem = task.MakeProblem(subject, {}, {.target = "tpu"});
  EXPECT_TRUE(problem.ok()) << problem.status();
  return *std::move(problem);
}

TEST(TpuFusionTask, JudgesByEvaluatingTheFusedModule) {
  const TpuFusionTask task(MadeUp);
  const Subject subject(hlo::VerifiedModule(kModule));
  const std::unique_ptr<space::Problem> problem = ProblemOf(task, subject);
  const space::Candidate candidate = problem->DefaultCandidate();
  HONE_ASSERT_OK_AND_ASSIGN(const Winner winner,
                            task.Judge(subject, *problem, candidate, {}));
  EXPECT_EQ(winner.cost, problem->reference_cost());
  EXPECT_THAT(winner.verification.method, HasSubstr("evaluator"));
  HONE_EXPECT_OK(hlo::VerifyModule(*winner.applied.module));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Kernel> kernels,
                            hlo::KernelsOf(*winner.applied.module));
  double sum = 0;
  for (const hlo::Kernel& kernel : kernels) {
    sum += hlo::MadeUpTime(kernel.module);
  }
  EXPECT_EQ(winner.cost, sum);
  EXPECT_EQ(task.CandidateOf(*problem, winner.applied.decision), candidate);
}

TEST(TpuFusionTask, RefusesWhatIsNoDecision) {
  const TpuFusionTask task(MadeUp);
  const Subject subject(hlo::VerifiedModule(kModule));
  const std::unique_ptr<space::Problem> problem = ProblemOf(task, subject);
  for (const char* decision :
       {"", "[]", "{}", R"({"fused":[0]})", R"({"fused":[99],"swapped":[]})",
        R"({"fused":[-1],"swapped":[]})", R"({"fused":0,"swapped":[]})",
        R"({"fused":[0],"swapped":["x"]})"}) {
    EXPECT_EQ(task.CandidateOf(*problem, decision), std::nullopt) << decision;
  }
  EXPECT_THAT(task.Apply(subject, *problem, {{1}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 choices, expected 0 or 1 for each of")));
  TaskOptions options;
  options.cluster.emplace();
  EXPECT_THAT(task.OptionsKey(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a cluster with target 'tpu'")));
  EXPECT_THAT(task.ResolveTarget("cpu", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("target 'cpu', expected 'tpu'")));
}

// Other names, another order of the text: the same fingerprint, so the same
// key of the cache.
TEST(TpuFusionTask, DecisionsHoldForModulesOfTheSameFingerprint) {
  const TpuFusionTask task(MadeUp);
  constexpr char kLoops[] = R"(HloModule m
body {
  s = f32[8] parameter(0)
  a = f32[8] negate(s)
  b = f32[8] tanh(s)
  c = f32[8] multiply(b, a)
  ROOT d = f32[8] sine(c)
}
condition {
  s = f32[8] parameter(0)
  ROOT p = pred[] constant(false)
}
ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] negate(x)
  z = f32[8] cosine(x)
  start = f32[8] add(z, y)
  ROOT w = f32[8] while(start), condition=condition, body=body
})";
  const std::string reordered = absl::StrReplaceAll(
      kLoops, {{"  a = f32[8] negate(s)\n  b = f32[8] tanh(s)\n",
                "  k = f32[8] tanh(s)\n  a = f32[8] negate(s)\n"},
               {"multiply(b, a)", "multiply(k, a)"},
               {"  y = f32[8] negate(x)\n  z = f32[8] cosine(x)\n",
                "  z = f32[8] cosine(x)\n  q = f32[8] negate(x)\n"},
               {"add(z, y)", "add(z, q)"}});
  const Subject first(hlo::VerifiedModule(kLoops));
  const Subject second(hlo::VerifiedModule(reordered));
  ASSERT_EQ(first.Fingerprint(), second.Fingerprint());
  const std::unique_ptr<space::Problem> from = ProblemOf(task, first);
  const std::unique_ptr<space::Problem> to = ProblemOf(task, second);
  const auto& fusion = static_cast<const TpuFusionProblem&>(*from);
  for (int32_t v = 0; v < fusion.variable_count(); ++v) {
    std::vector<int32_t> values(static_cast<size_t>(fusion.variable_count()));
    values[static_cast<size_t>(v)] = 1;
    HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision applied,
                              task.Apply(first, *from, {values}));
    const auto candidate = task.CandidateOf(*to, applied.decision);
    ASSERT_TRUE(candidate.has_value());
    HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision again,
                              task.Apply(second, *to, *candidate));
    EXPECT_EQ(hlo::Fingerprint(*applied.module),
              hlo::Fingerprint(*again.module));
  }
}

TEST(TpuFusionTask, SearchesEndNoWorseThanTheSeeds) {
  const TpuFusionTask task(MadeUp);
  const Subject subject(hlo::VerifiedModule(kModule));
  for (const char* optimizer :
       {"annealing", "beam", "genetic", "greedy", "random"}) {
    SCOPED_TRACE(optimizer);
    const std::unique_ptr<space::Problem> problem = ProblemOf(task, subject);
    double least = std::numeric_limits<double>::infinity();
    const std::vector<space::Seed> seeds = problem->Seeds();
    for (const space::Seed& seed : seeds) {
      least = std::min(least, problem->Measure(seed.candidate)->cost);
    }
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto search,
        optimizers::CreateOptimizer(optimizer, *problem, {.seed = 1}));
    HONE_ASSERT_OK_AND_ASSIGN(
        const optimizers::SearchResult result,
        optimizers::RunSearch(*problem, *search, {.trials = 30}, FakeClock()));
    ASSERT_TRUE(result.best.has_value());
    EXPECT_EQ(result.best->measurement.outcome, space::Outcome::kOk);
    EXPECT_LE(result.best->measurement.cost, least);
  }
}

}  // namespace
}  // namespace hone::tuning

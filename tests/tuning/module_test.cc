#include "tuning/tasks/module.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "backends/plan_script.h"
#include "loops/text/canonical.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/scripted_kernels.h"
#include "tuning/registry.h"
#include "tuning/tasks/module_problem.h"
#include "tuning/tasks/plan_calls.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A product before a loop of products and sums.
constexpr char kLayers[] = R"(HloModule layers

condition {
  state = (s32[], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(20)
  ROOT less = pred[] compare(i, n), direction=LT
}

body {
  state = (s32[], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[32,32] get-tuple-element(state), index=1
  y = f32[32,32] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT result = (s32[], f32[32,32]) tuple(next, y)
}

ENTRY main {
  a = f32[32,48] parameter(0)
  b = f32[48,32] parameter(1)
  x = f32[32,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = s32[] constant(0)
  state = (s32[], f32[32,32]) tuple(zero, x)
  loop = (s32[], f32[32,32]) while(state), condition=condition, body=body
  ROOT y = f32[32,32] get-tuple-element(loop), index=1
}
)";

// The same product as in the loop.
constexpr char kProduct[] = R"(HloModule product

ENTRY main {
  x = f32[32,32] parameter(0)
  ROOT y = f32[32,32] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

const Task& ModuleTask() { return **FindTask("module"); }

class ModuleTest : public ::testing::Test {
 protected:
  std::unique_ptr<space::Problem> ProblemOf(const hlo::Module& module) {
    return ModuleTask().MakeProblem(module, {}, context_).value();
  }

  absl::StatusOr<storage::Record> Tune(const hlo::Module& module,
                                       int64_t trials,
                                       const std::string& optimizer = "",
                                       const StopPredicate& stop = nullptr) {
    TuningSpec request;
    request.task = "module";
    request.optimizer = optimizer;
    request.budget.trials = trials;
    const TunerContext context{
        .store = store_.get(), .clock = &SystemClock(), .kernels = &kernels_};
    const auto tuning = CreateTuning(context, request, module);
    if (!tuning.ok()) return tuning.status();
    return RunTuning(context, tuning->id, {.stop = stop});
  }

  storage::CacheKey KernelKey(const std::string& fingerprint) {
    TuningSpec spec;
    spec.task = "kernel";
    spec.target = "cpu:a";
    return MakeCacheKey(fingerprint, spec, nullptr).value();
  }

  const hlo::Module layers_ = ParseOrDie(kLayers);
  const hlo::Module product_ = ParseOrDie(kProduct);
  ScriptedKernels kernels_;
  std::unique_ptr<storage::Store> store_ =
      std::make_unique<storage::MemoryStore>();
  const TaskContext context_{.target = "cpu:a", .kernels = &kernels_};
};

TEST_F(ModuleTest, KernelsOfLoopsCountAsOftenAsTheyRun) {
  const auto problem = ProblemOf(layers_);
  const auto& whole = static_cast<const ModuleProblem&>(*problem);
  double most = 0;
  double least = 1e9;
  for (const ModuleKernel& kernel : whole.kernels()) {
    most = std::max(most, kernel.calls);
    least = std::min(least, kernel.calls);
  }
  EXPECT_EQ(least, 1);
  EXPECT_GE(most, 20);
  EXPECT_LE(most, 21);
}

TEST_F(ModuleTest, TheCostIsTheSumOfTheKernels) {
  const auto problem = ProblemOf(layers_);
  const auto& whole = static_cast<const ModuleProblem&>(*problem);
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                            problem->Measure({}));
  ASSERT_EQ(measured.samples.size(), whole.part_count());
  double sum = 0;
  for (size_t i = 0; i < whole.part_count(); ++i) {
    EXPECT_EQ(measured.samples[i], 1000 * whole.kernels()[i].calls);
    sum += measured.samples[i];
  }
  EXPECT_EQ(measured.cost, sum);
  for (const auto& request : kernels_.requests) {
    EXPECT_EQ(request.form, backends::KernelForm::kProgram);
  }
  // Another candidate of one kernel measures that kernel alone.
  const size_t before = kernels_.requests.size();
  std::vector<space::Candidate> parts(whole.part_count());
  const auto& part = whole.part(0);
  parts[0] = {{part.LegalActions(part.InitialState())[0]}};
  HONE_ASSERT_OK(problem->Measure(whole.Compose(parts)).status());
  EXPECT_EQ(kernels_.requests.size(), before + 1);
}

TEST_F(ModuleTest, CandidatesAreComposedOfThoseOfKernels) {
  const auto problem = ProblemOf(layers_);
  const auto& whole = static_cast<const ModuleProblem&>(*problem);
  std::vector<space::Candidate> parts(whole.part_count());
  for (size_t i = 0; i < parts.size(); i += 2) {
    const auto& part = whole.part(i);
    parts[i] = {{part.LegalActions(part.InitialState()).back()}};
  }
  const space::Candidate all = whole.Compose(parts);
  EXPECT_EQ(*whole.Decompose(all), parts);
  // They are sequences of legal actions.
  space::StatePtr state = whole.InitialState();
  for (int32_t action : all.choices) {
    EXPECT_THAT(whole.LegalActions(state), ::testing::Contains(action));
    HONE_ASSERT_OK_AND_ASSIGN(state, whole.Step(state, action));
  }
  EXPECT_FALSE(whole.Decompose({{3}}).ok());
  EXPECT_EQ(whole.Measure({{3}})->outcome, space::Outcome::kInvalid);
}

TEST_F(ModuleTest, TheWinnerIsConfirmedAsAWholeAndPublishedByKernel) {
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune(layers_, 60));
  EXPECT_EQ(record.optimizer, "parts");
  EXPECT_LT(record.best_cost, record.default_cost);
  EXPECT_THAT(record.verification.method, HasSubstr("kernels tuned"));
  const backends::KernelRequest& last = kernels_.requests.back();
  EXPECT_EQ(last.form, backends::KernelForm::kModule);
  EXPECT_TRUE(last.fresh_process);
  EXPECT_TRUE(last.confirm);
  // The schedules apply to the plan.
  HONE_ASSERT_OK_AND_ASSIGN(loops::ModulePlan plan,
                            backends::LowerToCanonicalPlan(layers_));
  HONE_EXPECT_OK(backends::ApplyPlanScript(last.candidate_scripts[0], plan));
  HONE_ASSERT_OK_AND_ASSIGN(const KernelScripts scripts,
                            ScriptsOfModuleDecision(record.decision));
  ASSERT_THAT(scripts, Not(IsEmpty()));
  for (const auto& [fingerprint, script] : scripts) {
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record kernel,
                              store_->Lookup(KernelKey(fingerprint)));
    EXPECT_LT(kernel.best_cost, kernel.default_cost);
    EXPECT_THAT(kernel.verification.method, HasSubstr("module layers"));
  }
}

TEST_F(ModuleTest, AnotherModuleStartsFromTheSchedulesOfItsKernels) {
  HONE_ASSERT_OK(Tune(layers_, 60).status());
  // One trial beyond the default: what is known already.
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune(product_, 2));
  EXPECT_LT(record.best_cost, record.default_cost);
}

TEST_F(ModuleTest, WhatIsNoFasterAsAWholeIsNotPublished) {
  const auto by_length = kernels_.time;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    backends::KernelTiming timing = by_length(request, script);
    if (request.form == backends::KernelForm::kModule) {
      timing.ratio = timing.ratio_low = timing.ratio_high = 1;
    }
    return timing;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune(layers_, 40));
  EXPECT_EQ(record.best_cost, record.default_cost);
  EXPECT_THAT(record.verification.method,
              HasSubstr("a better decision was refused"));
  EXPECT_THAT(*ScriptsOfModuleDecision(record.decision), IsEmpty());
}

TEST_F(ModuleTest, AKernelThatIsNotConfirmedKeepsItsDefault) {
  const auto by_length = kernels_.time;
  std::string denied;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    backends::KernelTiming timing = by_length(request, script);
    // The product of the entry, 32 by 48.
    if (request.form == backends::KernelForm::kProgram &&
        request.fresh_process && absl::StrContains(request.module, "48")) {
      denied = request.module;
      timing.ratio = timing.ratio_low = timing.ratio_high = 1;
    }
    return timing;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune(layers_, 80));
  ASSERT_THAT(denied, Not(IsEmpty()));
  HONE_ASSERT_OK_AND_ASSIGN(const KernelScripts scripts,
                            ScriptsOfModuleDecision(record.decision));
  EXPECT_THAT(scripts, Not(IsEmpty()));
  const auto problem = ProblemOf(layers_);
  HONE_ASSERT_OK_AND_ASSIGN(const loops::ModulePlan plan,
                            backends::LowerToCanonicalPlan(layers_));
  for (const loops::Program& kernel : plan.kernels) {
    const bool is_denied = absl::StrContains(denied, "48") &&
                           scripts.contains(loops::FingerprintOf(kernel)) &&
                           kernel.buffer(0).dimensions.back() == 48;
    EXPECT_FALSE(is_denied);
  }
}

TEST_F(ModuleTest, AStoppedTuningGoesOn) {
  int64_t polls = 0;
  const auto stop = [&] { return ++polls > 30; };
  EXPECT_THAT(Tune(layers_, 60, "", stop),
              StatusIs(absl::StatusCode::kCancelled, _));
  const size_t before = kernels_.requests.size();
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune(layers_, 60));
  EXPECT_EQ(record.trials, 60);
  EXPECT_LT(record.best_cost, record.default_cost);
  // The default is not measured again.
  for (size_t i = before; i < kernels_.requests.size(); ++i) {
    EXPECT_FALSE(kernels_.requests[i].time_baseline);
  }
}

TEST_F(ModuleTest, AKernelThatCannotBeMeasuredKeepsItsDefault) {
  const auto problem = ProblemOf(layers_);
  kernels_.error = absl::InternalError("the baseline does not compile");
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                            problem->Measure({}));
  EXPECT_EQ(measured.outcome, space::Outcome::kOk);
  EXPECT_EQ(measured.cost, 0);
  const auto other = ProblemOf(layers_);
  kernels_.error = absl::UnavailableError("gone");
  EXPECT_THAT(other->Measure({}), StatusIs(absl::StatusCode::kUnavailable, _));
}

TEST_F(ModuleTest, OtherOptimizersWorkOnItToo) {
  for (const char* optimizer : {"random", "greedy", "annealing"}) {
    store_ = std::make_unique<storage::MemoryStore>();
    HONE_EXPECT_OK(Tune(product_, 12, optimizer).status()) << optimizer;
  }
}

TEST_F(ModuleTest, ADecisionIsOneOnlyInItsOwnForm) {
  for (const char* bad :
       {"", "[]", R"({"kernels":[1]})",
        R"({"kernels":[{"fingerprint":"f","script":[1]}]})"}) {
    EXPECT_FALSE(ScriptsOfModuleDecision(bad).ok()) << bad;
    EXPECT_EQ(ModuleTask().CandidateOf(*ProblemOf(product_), bad),
              std::nullopt);
  }
}

}  // namespace
}  // namespace hone::tuning

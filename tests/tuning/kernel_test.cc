#include "tuning/tasks/kernel.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "loops/text/text.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/scripted_kernels.h"
#include "tuning/registry.h"
#include "tuning/tasks/kernel_problem.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kMatmul[] = R"(HloModule matmul

ENTRY main {
  a = f32[48,40] parameter(0)
  b = f32[40,56] parameter(1)
  ROOT c = f32[48,56] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

const Task& Kernel() { return **FindTask("kernel"); }

int32_t ActionNamed(const space::Problem& problem, absl::string_view name) {
  const auto& sequential = *problem.sequential();
  for (int32_t action : sequential.LegalActions(sequential.InitialState())) {
    if (sequential.ActionName(action) == name) return action;
  }
  return -1;
}

class KernelTest : public ::testing::Test {
 protected:
  std::unique_ptr<space::Problem> Problem() {
    return Kernel().MakeProblem(module_, {}, context_).value();
  }

  absl::StatusOr<storage::Record> Tune(const std::string& optimizer,
                                       int64_t trials,
                                       const StopPredicate& stop = nullptr) {
    TuningSpec request;
    request.task = "kernel";
    request.optimizer = optimizer;
    request.budget.trials = trials;
    const TunerContext context{
        .store = store_.get(), .clock = &SystemClock(), .kernels = &kernels_};
    const auto tuning = CreateTuning(context, request, module_);
    if (!tuning.ok()) return tuning.status();
    return RunTuning(context, tuning->id, {.stop = stop});
  }

  const hlo::Module module_ = ParseOrDie(kMatmul);
  ScriptedKernels kernels_;
  std::unique_ptr<storage::Store> store_ =
      std::make_unique<storage::MemoryStore>();
  const TaskContext context_{.target = "cpu:a", .kernels = &kernels_};
};

TEST_F(KernelTest, TargetsAreDevices) {
  const auto resolve = [&](absl::string_view asked) {
    return Kernel().ResolveTarget(asked, &kernels_);
  };
  EXPECT_EQ(*resolve(""), "cpu:a");
  EXPECT_EQ(*resolve("cpu"), "cpu:a");
  EXPECT_EQ(*resolve("cpu:elsewhere"), "cpu:elsewhere");
  EXPECT_THAT(resolve("tpu"), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("'tpu' is no device")));
  kernels_.devices.push_back(ScriptedKernels::Device("cpu:b"));
  EXPECT_THAT(resolve(""), StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr("cpu:b (a machine)")));
  kernels_.devices.clear();
  EXPECT_THAT(resolve(""), StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_THAT(Kernel().ResolveTarget("", nullptr),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("expected one (hone worker --connect")));
}

TEST_F(KernelTest, ThreadsAreThoseOfTheDevice) {
  EXPECT_EQ(*Kernel().OptionsKey({.threads = 3}), "threads=3");
  EXPECT_THAT(Kernel().OptionsKey({.threads = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(Kernel().MakeProblem(module_, {.threads = 5}, context_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("at most the 4 of a machine")));
}

TEST_F(KernelTest, WhatHasNoLoweringIsNamed) {
  const hlo::Module module = ParseOrDie(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT call = f32[4] custom-call(x), custom_call_target="f"
}
)");
  EXPECT_THAT(
      Kernel().MakeProblem(module, {}, context_),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("custom-call")));
}

TEST_F(KernelTest, CostsAreRelativeToTheDefault) {
  const auto problem = Problem();
  EXPECT_TRUE(problem->is_noisy());
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement by_default,
                            problem->Measure({}));
  EXPECT_EQ(by_default.cost, 1000);
  const int32_t action = ActionNamed(*problem, "lowered");
  kernels_.time = [](const auto&, const auto&) {
    backends::KernelTiming timing;
    timing.ns = 123;  // When it was measured the machine was slower.
    timing.ratio = 0.5;
    return timing;
  };
  EXPECT_EQ(problem->Measure({{action}})->cost, 500);
  EXPECT_FALSE(kernels_.requests.back().time_baseline);
  // Once is enough.
  const size_t before = kernels_.requests.size();
  EXPECT_EQ(problem->Measure({{action}})->cost, 500);
  EXPECT_EQ(kernels_.requests.size(), before);
}

TEST_F(KernelTest, TheFirstTrialsOfALogAreRecalled) {
  const auto problem = Problem();
  space::Trial first;
  first.measurement.cost = 4000;
  problem->Recall({&first, 1});
  EXPECT_EQ(problem->Measure({})->cost, 4000);
  EXPECT_THAT(kernels_.requests, IsEmpty());
}

TEST_F(KernelTest, LuckInARecalledTrialEndsNoRace) {
  std::vector<space::Trial> log(3);
  log[0].measurement.cost = 4000;
  log[1].measurement.cost = 2000;
  log[1].measurement.samples = {1900, 2000, 3000};
  log[2].measurement.outcome = space::Outcome::kWrongResult;
  const auto problem = Problem();
  problem->Recall(log);
  HONE_ASSERT_OK(
      problem->Measure({{ActionNamed(*problem, "lowered")}}).status());
  EXPECT_EQ(kernels_.requests.back().bar, 0.75);
}

TEST_F(KernelTest, ABadCandidateIsATrialABrokenFleetIsAnError) {
  const auto problem = Problem();
  HONE_ASSERT_OK(problem->Measure({}).status());
  const auto& sequential = *problem->sequential();
  const int32_t lowered = ActionNamed(*problem, "lowered");
  const int32_t step = sequential.LegalActions(
      *sequential.Step(sequential.InitialState(), lowered))[0];
  kernels_.time = [](const auto&, const auto&) {
    backends::KernelTiming timing;
    timing.outcome = space::Outcome::kCrashed;
    timing.message = "signal 11";
    return timing;
  };
  EXPECT_EQ(problem->Measure({{lowered}})->outcome, space::Outcome::kCrashed);
  kernels_.error = absl::UnavailableError("gone");
  EXPECT_THAT(problem->Measure({{lowered, step}}),
              StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_EQ(problem->Measure({{-1}})->outcome, space::Outcome::kInvalid);
}

TEST_F(KernelTest, ChoicesComeFirstThenTransformations) {
  const auto problem = Problem();
  const auto& sequential = *problem->sequential();
  const space::StatePtr initial = sequential.InitialState();
  int32_t transform = -1;
  int32_t lowered = -1;
  for (int32_t action : sequential.LegalActions(initial)) {
    const std::string name = sequential.ActionName(action);
    if (name == "transform") transform = action;
    if (name == "lowered") lowered = action;
    // Whatever is legal leads elsewhere, and is there when one comes back.
    HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr next,
                              sequential.Step(initial, action));
    EXPECT_NE(next->key(), initial->key()) << name;
  }
  ASSERT_NE(transform, -1);
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr scheduled,
                            sequential.Step(initial, transform));
  EXPECT_THAT(sequential.Step(scheduled, transform),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected a transformation")));
  HONE_ASSERT_OK_AND_ASSIGN(const space::StatePtr bare,
                            sequential.Step(initial, lowered));
  const std::vector<int32_t> legal = sequential.LegalActions(bare);
  ASSERT_THAT(legal, Not(IsEmpty()));
  EXPECT_THAT(sequential.Step(initial, legal[0]),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  for (int32_t action : legal) {
    HONE_EXPECT_OK(sequential.Step(bare, action).status())
        << sequential.ActionName(action);
  }
  const auto& kernel = static_cast<const KernelProblem&>(*problem);
  EXPECT_THAT(*kernel.ScriptOf({{lowered}}), IsEmpty());
  EXPECT_EQ(*kernel.ScriptOf({{transform}}), *kernel.ScriptOf({}));
}

TEST_F(KernelTest, ADecisionIsAScriptAndMakesTheSameKernelAgain) {
  const auto problem = Problem();
  const auto& sequential = *problem->sequential();
  const int32_t action = sequential.LegalActions(sequential.InitialState())[0];
  HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision applied,
                            Kernel().Apply(module_, *problem, {{action}}));
  EXPECT_THAT(applied.decision, HasSubstr(R"({"script":[")"));
  EXPECT_EQ(hlo::Fingerprint(*applied.module), hlo::Fingerprint(module_));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            KernelOfDecision(module_, applied.decision));
  EXPECT_THAT(loops::PrintProgram(program), HasSubstr("vector"));
  for (const char* bad :
       {"", "[]", R"({"script":[1]})", R"({"script":["fly 0"]})",
        R"({"script":["split 9.9 4"]})"}) {
    EXPECT_FALSE(KernelOfDecision(module_, bad).ok()) << bad;
  }
}

TEST_F(KernelTest, TheBestAsMeasuredOnceMoreIsPublished) {
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune("greedy", 30));
  EXPECT_EQ(record.key.target, "cpu:a");
  EXPECT_EQ(record.unit, "ns");
  EXPECT_EQ(record.default_cost, 1000);
  EXPECT_LT(record.best_cost, 1000);
  EXPECT_THAT(record.verification.method, HasSubstr("in fresh processes"));
  EXPECT_THAT(record.verification.method, HasSubstr("% of the roofline"));
  EXPECT_EQ(record.verification.max_rel_error, 1e-7);
  bool fresh = false;
  for (const auto& request : kernels_.requests) {
    if (!request.fresh_process) continue;
    fresh = true;
    EXPECT_NE(request.seed, kernels_.requests[0].seed);
    EXPECT_GT(request.pairs, kernels_.requests[0].pairs);
  }
  EXPECT_TRUE(fresh);
}

TEST_F(KernelTest, AWinnerIsConfirmedByASecondMachineAndNamesTheWorkers) {
  kernels_.workers = {"w1", "w2"};
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune("greedy", 30));
  EXPECT_LT(record.best_cost, 1000);
  EXPECT_THAT(record.verification.method,
              HasSubstr("; measured by worker w1, confirmed by w2"));
  // Other trials than the default are measured once.
  for (const auto& request : kernels_.requests) {
    EXPECT_TRUE(!request.confirm || request.fresh_process ||
                request.time_baseline);
  }
}

TEST_F(KernelTest, AWinnerThatASecondMachineDeniesIsDropped) {
  const auto by_length = kernels_.time;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    backends::KernelTiming timing = by_length(request, script);
    if (request.confirm) {
      timing.outcome = space::Outcome::kWrongResult;
      timing.message = "workers disagree: w1: 0.100, w2: 1.000";
    }
    return timing;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune("greedy", 30));
  EXPECT_EQ(record.best_cost, record.default_cost);
}

TEST_F(KernelTest, TheDeviceIsCalibratedOnceForTheRoofline) {
  const auto problem = Problem();
  const auto& kernel = static_cast<const KernelProblem&>(*problem);
  for (int i = 0; i < 2; ++i) {
    HONE_ASSERT_OK_AND_ASSIGN(const KernelProblem::Confirmation confirmation,
                              kernel.Confirm({}));
    // At the 10^12 operations a second of the scripted device.
    EXPECT_DOUBLE_EQ(confirmation.roofline_ns, 2 * 48 * 40 * 56 / 1e3);
  }
  int calibrations = 0;
  for (const auto& request : kernels_.requests) {
    calibrations += request.calibrate ? 1 : 0;
  }
  EXPECT_EQ(calibrations, 1);
}

TEST_F(KernelTest, LuckIsNotPublished) {
  const auto by_length = kernels_.time;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    backends::KernelTiming timing = by_length(request, script);
    if (request.fresh_process) {
      timing.ratio = 0.99;
      timing.ratio_high = 1.01;
    }
    return timing;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune("greedy", 30));
  EXPECT_EQ(record.best_cost, record.default_cost);
  EXPECT_THAT(record.verification.method,
              HasSubstr("not surely faster than the default"));
}

TEST_F(KernelTest, LuckInOneProcessIsNotPublished) {
  const auto by_length = kernels_.time;
  std::optional<uint64_t> first;
  double second_high = 1.01;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    backends::KernelTiming timing = by_length(request, script);
    if (!request.fresh_process) return timing;
    if (!first) first = request.seed;
    const bool again = request.seed != *first;
    timing.ratio = again ? 0.9 : 0.8;
    timing.ratio_high = again ? second_high : 0.85;
    return timing;
  };
  HONE_ASSERT_OK_AND_ASSIGN(storage::Record record, Tune("greedy", 30));
  EXPECT_EQ(record.best_cost, record.default_cost);
  EXPECT_THAT(record.verification.method,
              HasSubstr("not surely faster than the default: 0.900"));

  // Of two that are sure, the worse is published.
  second_high = 0.95;
  store_ = std::make_unique<storage::MemoryStore>();
  HONE_ASSERT_OK_AND_ASSIGN(record, Tune("greedy", 30));
  EXPECT_EQ(record.best_cost, 0.9 * record.default_cost);
}

TEST_F(KernelTest, AWinnerThatIsWrongElsewhereIsRefused) {
  const auto by_length = kernels_.time;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    backends::KernelTiming timing = by_length(request, script);
    if (request.fresh_process && script != request.baseline_script) {
      timing.outcome = space::Outcome::kWrongResult;
      timing.message = "element 3";
    }
    return timing;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record, Tune("greedy", 30));
  EXPECT_EQ(record.best_cost, record.default_cost);
  EXPECT_THAT(record.verification.method, HasSubstr("wrong_result: element 3"));
}

class KernelResume : public KernelTest,
                     public ::testing::WithParamInterface<std::string> {};

TEST_P(KernelResume, GoesOnAfterTheFleetWasGone) {
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record whole, Tune(GetParam(), 25));
  store_ = std::make_unique<storage::MemoryStore>();
  const auto by_length = kernels_.time;
  int measured = 0;
  kernels_.time = [&](const backends::KernelRequest& request,
                      const std::string& script) {
    if (++measured == 6) kernels_.error = absl::UnavailableError("gone");
    return by_length(request, script);
  };
  EXPECT_THAT(Tune(GetParam(), 25),
              StatusIs(absl::StatusCode::kUnavailable, _));
  // It goes on under a slower clock, and ends in the same.
  kernels_.error = absl::OkStatus();
  kernels_.baseline_ns = 3000;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record resumed,
                            Tune(GetParam(), 25));
  EXPECT_EQ(resumed.default_cost, 1000);
  EXPECT_EQ(resumed.best_cost, whole.best_cost);
  EXPECT_EQ(resumed.decision, whole.decision);
  EXPECT_EQ(resumed.trials, 25);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, KernelResume,
                         ::testing::Values("random", "greedy", "beam",
                                           "annealing"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace hone::tuning

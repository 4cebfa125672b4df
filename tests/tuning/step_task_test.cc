#include "tuning/tasks/step_task.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "graphs/hlo_import.h"
#include "hlo/text/printer.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/sample_steps.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/tasks/step_decision.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOptions[] =
    "objective=step-time;cluster=accelerators={count=2,flops_per_second=1e+08,"
    "bytes_per_second=1e+09,memory_bytes=1e+09,launch_seconds=1e-06}|"
    "link={bytes_per_second=1e+09,latency_seconds=1e-06}|;hlo_import=2";

TaskOptions OptionsOf(const std::string& task,
                      const graphs::Cluster& cluster = Accelerators(2)) {
  TaskOptions options;
  if (task == "placement") options.objective = std::string(kStepTime);
  options.cluster = cluster;
  return options;
}

TuningSpec SpecOf(const std::string& task, int64_t trials = 20) {
  TuningSpec spec;
  spec.task = task;
  spec.options = OptionsOf(task);
  spec.budget.trials = trials;
  return spec;
}

Subject Operators() { return *ParseSubject(kBranches, "branches.json"); }
Subject Module() { return ParseOrDie(kBranchesModule); }

graphs::OpGraph GraphOf(const Subject& subject) {
  return subject.kind() == SubjectKind::kModule
             ? *graphs::ImportHlo(subject.module())
             : subject.operators();
}

absl::StatusOr<storage::Record> Tune(storage::Store& store,
                                     const TuningSpec& spec,
                                     const Subject& subject) {
  const TunerContext context = {.store = &store, .clock = &SystemClock()};
  const auto tuning = CreateTuning(context, spec, subject);
  if (!tuning.ok()) return tuning.status();
  return RunTuning(context, tuning->id);
}

// Anybody can check the decision of a record.
void CheckDecision(const storage::Record& record, const Subject& subject) {
  const graphs::OpGraph graph = GraphOf(subject);
  const auto json = nlohmann::json::parse(record.decision);
  EXPECT_EQ(json["objective"], "step-time");
  EXPECT_EQ(json["assignment"].size(), graph.size());
  EXPECT_EQ(json["priorities"].size(), graph.size());
  EXPECT_EQ(json.contains("order"), record.key.task != "fusion");
  EXPECT_EQ(json.contains("levels"),
            record.key.task == "schedule" || record.key.task == "joint");
  HONE_ASSERT_OK_AND_ASSIGN(const StepDecision decision,
                            ParseStepDecision(record.decision, graph.size()));
  HONE_ASSERT_OK_AND_ASSIGN(const SimulatedStep step,
                            SimulateDecision(graph, Accelerators(2), decision));
  EXPECT_EQ(step.result.seconds * 1e3, record.best_cost);
  EXPECT_EQ(json["step_seconds"].get<double>(), step.result.seconds);
  EXPECT_EQ(json["peak_bytes"].get<std::vector<double>>(),
            step.result.peak_bytes);
}

class StepTaskTest : public ::testing::TestWithParam<NamedDecisions> {
 protected:
  const Task& task() const { return **FindTask(GetParam().task); }
};

INSTANTIATE_TEST_SUITE_P(Tasks, StepTaskTest,
                         ::testing::ValuesIn(kAllDecisions),
                         [](const auto& each) { return each.param.task; });

TEST_P(StepTaskTest, TunesToAVerifiedRecord) {
  for (const Subject& subject : {Operators(), Module()}) {
    SCOPED_TRACE(SubjectKindName(subject.kind()));
    storage::MemoryStore store(SystemClock());
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                              Tune(store, SpecOf(GetParam().task), subject));
    EXPECT_EQ(record.key.task, GetParam().task);
    EXPECT_EQ(record.key.target, "cluster");
    EXPECT_EQ(record.key.task_options, kOptions);
    EXPECT_EQ(record.key.module_fingerprint, subject.Fingerprint());
    EXPECT_EQ(record.key.space_version, task().space_version());
    EXPECT_EQ(record.module_name, "branches");
    EXPECT_EQ(record.optimizer, task().default_optimizer());
    EXPECT_EQ(record.unit, "ms");
    EXPECT_LE(record.best_cost, record.default_cost);
    EXPECT_EQ(record.verification.method,
              "checked: step simulated from the decision, memory suffices");
    CheckDecision(record, subject);
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record found,
                              store.Lookup(record.key));
    EXPECT_EQ(found.decision, record.decision);

    // A module with the devices, where these are decided.
    if (subject.kind() != SubjectKind::kModule ||
        !GetParam().decisions.devices) {
      EXPECT_EQ(record.tuned_module_digest, "");
      EXPECT_THAT(ReadTunedModule(store, record),
                  StatusIs(absl::StatusCode::kFailedPrecondition,
                           HasSubstr("makes no module")));
      continue;
    }
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module placed,
                              ReadTunedModule(store, record));
    const std::string text = hlo::PrintModule(placed);
    const auto json = nlohmann::json::parse(record.decision);
    const graphs::OpGraph graph = GraphOf(subject);
    for (size_t i = 0; i < graph.size(); ++i) {
      EXPECT_THAT(text, ::testing::ContainsRegex(absl::StrCat(
                            graph.node(static_cast<graphs::NodeIndex>(i)).name,
                            " = [^\n]*sharding=.maximal device=",
                            json["assignment"][i].get<int32_t>(), "}")));
    }
  }
}

// Of the branches one goes to each device.
TEST(StepTask, PlacementsOfBranchesUseBothDevices) {
  for (const char* const task : {"placement", "joint"}) {
    storage::MemoryStore store(SystemClock());
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                              Tune(store, SpecOf(task), Operators()));
    // A product takes 20 ms, everything else far less.
    EXPECT_GT(record.best_cost, 20);
    EXPECT_LT(record.best_cost, 21);
    const auto json = nlohmann::json::parse(record.decision);
    EXPECT_NE(json["assignment"][1], json["assignment"][2]);
  }
}

TEST_P(StepTaskTest, AForcedTuningEndsNoWorseThanTheRecord) {
  storage::MemoryStore store(SystemClock());
  const std::string name = GetParam().task;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record first,
                            Tune(store, SpecOf(name, 60), Module()));
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            task().MakeProblem(Module(), OptionsOf(name), {}));
  // Known methods come first, then what the record has.
  const auto trials = static_cast<int64_t>(problem->Seeds().size()) + 1;
  double best_cost = first.best_cost;
  for (const char* const optimizer : {"annealing", "random"}) {
    TuningSpec spec = SpecOf(name, trials);
    spec.optimizer = optimizer;
    spec.seed = 9;
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record again,
                              Tune(store, spec, Module()));
    EXPECT_LE(again.best_cost, best_cost);
    EXPECT_EQ(again.default_cost, first.default_cost);
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> log,
                              store.ListTrials(again.tuning_id));
    EXPECT_TRUE(absl::c_any_of(log, [&](const space::Trial& trial) {
      return trial.measurement.cost == best_cost;
    }));
    best_cost = again.best_cost;
  }
}

TEST_P(StepTaskTest, ReadsItsOwnDecisions) {
  const Subject subject = Operators();
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto problem,
      task().MakeProblem(subject, OptionsOf(GetParam().task), {}));
  for (const space::Seed& seed : problem->Seeds()) {
    SCOPED_TRACE(seed.name);
    HONE_ASSERT_OK_AND_ASSIGN(const AppliedDecision applied,
                              task().Apply(subject, *problem, seed.candidate));
    const std::optional<space::Candidate> again =
        task().CandidateOf(*problem, applied.decision);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(problem->Measure(*again)->cost,
              problem->Measure(seed.candidate)->cost);
    // There are no such devices on a smaller cluster, or it uses the first.
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto smaller,
        task().MakeProblem(subject, OptionsOf(GetParam().task, Accelerators(1)),
                           {}));
    const auto fits = task().CandidateOf(*smaller, applied.decision);
    if (fits.has_value()) {
      HONE_EXPECT_OK(smaller->Measure(*fits));
    }
  }
  EXPECT_EQ(task().CandidateOf(*problem, "{}"), std::nullopt);
  // There are two devices.
  if (GetParam().decisions.devices) {
    EXPECT_EQ(task().CandidateOf(*problem,
                                 R"({"assignment":[0,0,0,0,0,9],)"
                                 R"("priorities":[1,1,1,1,1,1],"fused":[]})"),
              std::nullopt);
  }
}

TEST_P(StepTaskTest, WhatTheCheckerRefusesIsNotPublished) {
  const Subject subject = Operators();
  const TaskOptions options = OptionsOf(GetParam().task);
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            task().MakeProblem(subject, options, {}));
  const space::Candidate good = problem->DefaultCandidate();
  HONE_EXPECT_OK(task().Judge(subject, *problem, good, {}));
  space::Candidate bad = good;
  bad.choices.back() = 99;
  EXPECT_THAT(task().Judge(subject, *problem, bad, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("out of its domain")));
  // The subject is what it is judged by, not the problem, which may be
  // mistaken.
  const Subject other = *ParseSubject(
      absl::StrReplaceAll(kBranches, {{"\"flops\":2e6", "\"flops\":3e6"}}),
      "other.json");
  EXPECT_THAT(task().Judge(other, *problem, good, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("measured as"),
                             HasSubstr("expected a step of"))));
  const Subject larger = *ParseSubject(
      absl::StrReplaceAll(
          kBranches, {{"\"parameter_bytes\":4096", "\"parameter_bytes\":4e9"}}),
      "larger.json");
  EXPECT_THAT(task().Judge(larger, *problem, good, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       Not(HasSubstr("with 0 bytes too many"))));
}

TEST_P(StepTaskTest, OptionsAreReadBack) {
  const TaskOptions options = OptionsOf(GetParam().task);
  HONE_ASSERT_OK_AND_ASSIGN(const std::string key, task().OptionsKey(options));
  EXPECT_EQ(key, kOptions);
  HONE_ASSERT_OK_AND_ASSIGN(const TaskOptions read, ParseOptionsKey(key));
  EXPECT_EQ(read.cluster, options.cluster);
  EXPECT_EQ(read.objective, kStepTime);
  EXPECT_EQ(*task().OptionsKey(read), key);
}

TEST_P(StepTaskTest, OptionsThatDoNotApplyAreRefused) {
  const auto refused = [&](const TaskOptions& options) {
    const auto key = task().OptionsKey(options);
    EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(key.status().message());
  };
  TaskOptions options = OptionsOf(GetParam().task);
  options.cluster = std::nullopt;
  EXPECT_THAT(refused(options),
              AllOf(HasSubstr("has no cluster"), HasSubstr(GetParam().task)));
  options = OptionsOf(GetParam().task);
  options.contiguity = graphs::Contiguity::kConvex;
  EXPECT_THAT(refused(options), AllOf(HasSubstr("contiguity 'convex'"),
                                      HasSubstr("expected objective")));
  options = OptionsOf(GetParam().task);
  options.objective = "luck";
  EXPECT_THAT(refused(options),
              AllOf(HasSubstr("'luck'"), HasSubstr("expected")));
  EXPECT_THAT(refused(OptionsOf(GetParam().task, Accelerators(65))),
              AllOf(HasSubstr("65 devices"), HasSubstr("at most 64")));
  EXPECT_THAT(task().ResolveTarget("xla-cpu", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected 'cluster'")));
  // Nothing is stored for a cluster that is too small.
  storage::MemoryStore store(SystemClock());
  TuningSpec spec = SpecOf(GetParam().task);
  spec.options.cluster = Accelerators(2, 5000);
  EXPECT_THAT(Tune(store, spec, Operators()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("the weights take 12288 bytes"),
                             HasSubstr("at least 2288 more"))));
  EXPECT_EQ(store.Stats()->records, 0);
}

}  // namespace
}  // namespace hone::tuning

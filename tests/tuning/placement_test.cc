#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "graphs/bundled_clusters.h"
#include "graphs/max_load.h"
#include "space/assignment_problem.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_graphs.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Task& Placement() { return **FindTask("placement"); }

Subject Chain() { return *ParseSubject(kChain, "chain.json"); }

TuningSpec SpecWith(graphs::Contiguity contiguity) {
  TuningSpec spec;
  spec.task = "placement";
  spec.options.contiguity = contiguity;
  spec.budget.trials = 40;
  return spec;
}

TEST(Placement, ReadsItsOwnDecisions) {
  const Subject chain = Chain();
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            Placement().MakeProblem(chain, {}, {}));
  for (const space::Seed& seed : problem->Seeds()) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const AppliedDecision applied,
        Placement().Apply(chain, *problem, seed.candidate));
    EXPECT_EQ(Placement().CandidateOf(*problem, applied.decision),
              seed.candidate);
  }
  const auto count =
      static_cast<size_t>(problem->assignment()->variable_count());
  std::string beyond = "0";
  for (size_t i = 1; i < count; ++i) beyond += ",64";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"assignment":[0]})"),
        std::string(R"({"assignment":3})"),
        "{\"assignment\":[" + beyond + "]}"}) {
    EXPECT_EQ(Placement().CandidateOf(*problem, text), std::nullopt) << text;
  }
}

// What takes long is left out, and measuring goes on.
TEST(Placement, ConstructsNoSeedsWithoutTime) {
  const Subject chain = Chain();
  int64_t asked = 0;
  TaskContext context;
  context.seeds_end = [&asked] {
    ++asked;
    return true;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            Placement().MakeProblem(chain, {}, context));
  const std::vector<space::Seed> seeds = problem->Seeds();
  EXPECT_GT(asked, 0);
  ASSERT_GE(seeds.size(), 2u);
  EXPECT_EQ(seeds[0].candidate, problem->DefaultCandidate());
  for (const space::Seed& seed : seeds) {
    HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measurement,
                              problem->Measure(seed.candidate));
    EXPECT_EQ(measurement.outcome, space::Outcome::kOk) << seed.name;
  }
}

TEST(Placement, TunesToAVerifiedRecordWithoutAModule) {
  const Subject chain = Chain();
  storage::MemoryStore store(SystemClock());
  const TunerContext context = {.store = &store, .clock = &SystemClock()};
  for (const graphs::Contiguity contiguity :
       {graphs::Contiguity::kPipeline, graphs::Contiguity::kConvex,
        graphs::Contiguity::kNone}) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const storage::Tuning tuning,
        CreateTuning(context, SpecWith(contiguity), chain));
    EXPECT_EQ(tuning.optimizer, "annealing");
    EXPECT_EQ(tuning.module_name, "chain");
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                              RunTuning(context, tuning.id));
    EXPECT_EQ(record.key.target, "cluster");
    EXPECT_EQ(record.key.module_fingerprint, chain.Fingerprint());
    EXPECT_EQ(record.key.task_options,
              std::string("contiguity=") +
                  std::string(graphs::ContiguityName(contiguity)));
    EXPECT_EQ(record.tuned_module_digest, "");
    EXPECT_EQ(record.unit, "ms");
    EXPECT_LE(record.best_cost, record.default_cost);
    EXPECT_THAT(record.verification.method,
                StartsWith("checked: max load recomputed, valid "));
    EXPECT_THAT(ReadTunedModule(store, record),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("'placement' makes no module")));
    // Anybody can check the decision.
    const auto decision = nlohmann::json::parse(record.decision);
    const auto assignment = decision["assignment"].get<std::vector<int32_t>>();
    HONE_EXPECT_OK(
        graphs::CheckAssignment(chain.graph(), assignment, contiguity));
    HONE_ASSERT_OK_AND_ASSIGN(const graphs::DeviceLoads loads,
                              graphs::ComputeLoads(chain.graph(), assignment));
    EXPECT_DOUBLE_EQ(loads.max_load, record.best_cost);
    EXPECT_EQ(decision["loads"].get<std::vector<double>>(), loads.loads);
    EXPECT_EQ(decision["contiguity"].get<std::string>(),
              graphs::ContiguityName(contiguity));
    HONE_ASSERT_OK_AND_ASSIGN(const storage::Record found,
                              store.Lookup(record.key));
    EXPECT_EQ(found.decision, record.decision);
  }
}

TEST(Placement, TheDecisionHasADevicePerNodeInOrder) {
  const Subject chain = Chain();
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            Placement().MakeProblem(chain, {}, {}));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Winner winner,
      Placement().Judge(chain, *problem, {{0, 1, 1, 2}}, {}));
  EXPECT_EQ(winner.cost, 3.5);
  const auto decision = nlohmann::json::parse(winner.applied.decision);
  EXPECT_THAT(decision["assignment"].get<std::vector<int32_t>>(),
              ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(decision["loads"].get<std::vector<double>>(),
              ElementsAre(3.5, 3, 1));
  EXPECT_EQ(winner.verification.method,
            "checked: max load recomputed, valid pipeline");
  EXPECT_FALSE(winner.applied.module.has_value());
}

TEST(Placement, WhatTheCheckerRefusesIsNotPublished) {
  const Subject chain = Chain();
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            Placement().MakeProblem(chain, {}, {}));
  // Out and back; on an accelerator that does not support it; no device.
  for (const space::Candidate& bad :
       std::vector<space::Candidate>{{{0, 1, 0, 2}}, {{0, 0, 0, 1}}, {{0}}}) {
    EXPECT_THAT(Placement().Judge(chain, *problem, bad, {}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("not a valid pipeline: ")));
  }
  // The first is allowed where nothing is asked for.
  const TaskOptions any = {.contiguity = graphs::Contiguity::kNone};
  HONE_ASSERT_OK_AND_ASSIGN(const auto loose,
                            Placement().MakeProblem(chain, any, {}));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Winner winner,
      Placement().Judge(chain, *loose, {{0, 1, 0, 2}}, {}));
  EXPECT_EQ(winner.verification.method,
            "checked: max load recomputed, valid assignment");
}

// The checker reads the graph, not the problem, which may be mistaken.
TEST(Placement, ACostThatIsNotThatOfTheGraphIsRefused) {
  const Subject chain = Chain();
  const Subject other = *ParseSubject(
      absl::StrReplaceAll(kChain, {{"\"fpgaLatency\":3", "\"fpgaLatency\":4"}}),
      "other.json");
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            Placement().MakeProblem(other, {}, {}));
  EXPECT_THAT(Placement().Judge(chain, *problem, {{0, 1, 1, 2}}, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("4.5"), HasSubstr("expected"),
                             HasSubstr("3.5"))));
}

// Two halves that take equally long, and a sum.
constexpr absl::string_view kHalves = R"(
HloModule halves

ENTRY main {
  x = f32[256,256] parameter(0)
  w = f32[256,256] parameter(1)
  y = f32[256,256] parameter(2)
  v = f32[256,256] parameter(3)
  a = f32[256,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[256,256] dot(y, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT sum = f32[256,256] add(a, b)
}
)";

// Two accelerators on which a dot takes 33.554432 ms, the sum 0.065536 and a
// transfer 0.262144.
graphs::Cluster TwoAccelerators() {
  return {.accelerators = {{.count = 2,
                            .flops_per_second = 1e9,
                            .bytes_per_second = 12e9,
                            .memory_bytes = 1e9}},
          .cpus = {},
          .link = {1e9, 0}};
}

TEST(Placement, AModuleIsPlacedOnTheClusterOfTheOptions) {
  const Subject halves = ParseOrDie(kHalves);
  storage::MemoryStore store(SystemClock());
  const TunerContext context = {.store = &store, .clock = &SystemClock()};
  TuningSpec spec = SpecWith(graphs::Contiguity::kPipeline);
  spec.options.cluster = TwoAccelerators();
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Tuning tuning,
                            CreateTuning(context, spec, halves));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                            RunTuning(context, tuning.id));
  EXPECT_EQ(record.module_name, "halves");
  EXPECT_EQ(record.key.module_fingerprint, halves.Fingerprint());
  EXPECT_EQ(record.key.task_options,
            "contiguity=pipeline;cluster=accelerators={count=2,"
            "flops_per_second=1e+09,bytes_per_second=1.2e+10,"
            "memory_bytes=1e+09,launch_seconds=0}|link={bytes_per_second=1e+09,"
            "latency_seconds=0}|;hlo_import=2");
  EXPECT_EQ(record.tuned_module_digest, "");
  EXPECT_NEAR(record.best_cost, 33.554432 + 0.065536 + 0.262144, 1e-9);
  const auto decision = nlohmann::json::parse(record.decision);
  const auto assignment = decision["assignment"].get<std::vector<int32_t>>();
  ASSERT_EQ(assignment.size(), 3u);
  EXPECT_NE(assignment[0], assignment[1]);

  // The subject is what it is judged by.
  HONE_ASSERT_OK_AND_ASSIGN(const auto problem,
                            Placement().MakeProblem(halves, spec.options, {}));
  const Subject smaller =
      ParseOrDie(absl::StrReplaceAll(kHalves, {{"256", "128"}}));
  EXPECT_THAT(Placement().Judge(smaller, *problem, {assignment}, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("expected a max load of 4.2")));
}

TEST(Placement, TheClusterIsPartOfTheKeyButItsNameIsNot) {
  TuningSpec spec = SpecWith(graphs::Contiguity::kPipeline);
  const auto key = [&](const graphs::Cluster& cluster) {
    spec.options.cluster = cluster;
    return MakeCacheKey("fingerprint", spec, nullptr)->Digest();
  };
  graphs::Cluster cluster = TwoAccelerators();
  const std::string digest = key(cluster);
  EXPECT_EQ(key(*graphs::ParseCluster(graphs::PrintCluster(cluster), "x.toml")),
            digest);
  cluster.link.latency_seconds = 1e-9;
  EXPECT_NE(key(cluster), digest);
}

TEST(Placement, AModuleThatFitsOnNoDeviceIsRefused) {
  graphs::Cluster small = TwoAccelerators();
  small.accelerators[0].memory_bytes = 1e5;
  EXPECT_THAT(
      Placement().MakeProblem(ParseOrDie(kHalves), {.cluster = small}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("node 'a'"), HasSubstr("no CPU"))));
}

TEST(Placement, TheTargetIsTheGraphsOwn) {
  EXPECT_EQ(*Placement().ResolveTarget("", nullptr), "cluster");
  EXPECT_EQ(*Placement().ResolveTarget("cluster", nullptr), "cluster");
  EXPECT_THAT(Placement().ResolveTarget("xla-cpu", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'xla-cpu'"), HasSubstr("'cluster'"))));
}

TEST(Placement, AModuleIsRefusedBeforeAnythingIsStored) {
  storage::MemoryStore store(SystemClock());
  const TunerContext context = {.store = &store, .clock = &SystemClock()};
  EXPECT_THAT(
      CreateTuning(context, SpecWith(graphs::Contiguity::kPipeline),
                   ParseOrDie(kSimplifiable)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("simplifiable is an HLO module, expected a weighted "
                         "graph for task 'placement', or a cluster to place "
                         "the module on")));
  TuningSpec on_cluster = SpecWith(graphs::Contiguity::kPipeline);
  on_cluster.options.cluster = graphs::FindCluster("v100x4").value();
  EXPECT_THAT(CreateTuning(context, on_cluster, Chain()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("chain is a weighted graph, expected an HLO "
                                 "module or an operator graph for task "
                                 "'placement', or no cluster, as the graph "
                                 "lists its devices")));
  EXPECT_THAT(CreateTuning(context, {}, Chain()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("chain is a weighted graph, expected an HLO "
                                 "module for task 'pass_order'")));
  EXPECT_EQ(store.Stats()->blobs, 0);
}

}  // namespace
}  // namespace hone::tuning

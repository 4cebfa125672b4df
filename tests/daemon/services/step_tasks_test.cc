// Tasks that minimize the time of a step, through the daemon.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "graphs/bundled_clusters.h"
#include "graphs/op_graph_json.h"
#include "proto/duration.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/tuning/sample_steps.h"
#include "tuning/subject.h"
#include "tuning/tasks/step_decision.h"

namespace hone::testing {
namespace {

using google::longrunning::Operation;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tuning::kAllDecisions;
using tuning::kBranches;
using tuning::kBranchesModule;
using tuning::NamedDecisions;

// Sets the cluster of the task's own options.
void SetCluster(const std::string& task, const std::string& cluster,
                v1::TaskOptions& options) {
  if (task == "placement") {
    options.mutable_placement()->set_objective(v1::PlacementOptions::STEP_TIME);
    options.mutable_placement()->set_cluster(cluster);
  } else if (task == "schedule") {
    options.mutable_schedule()->set_cluster(cluster);
  } else if (task == "fusion") {
    options.mutable_fusion()->set_cluster(cluster);
  } else {
    options.mutable_joint()->set_cluster(cluster);
  }
}

v1::TuneRequest RequestFor(const std::string& task, absl::string_view subject,
                           const std::string& cluster = "v100x4") {
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(subject));
  request.mutable_module()->set_file_name(
      tuning::IsJson(subject) ? "branches.json" : "branches.hlo");
  request.mutable_spec()->set_task(task);
  request.mutable_spec()->mutable_budget()->set_trials(15);
  SetCluster(task, cluster, *request.mutable_spec()->mutable_options());
  return request;
}

class StepTasksTest : public DaemonTest {
 protected:
  v1::TuneResponse TuneStep(const v1::TuneRequest& request) {
    const Operation started = Tune(request);
    const Operation done = started.done() ? started : WaitFor(started.name());
    v1::TuneResponse response;
    EXPECT_TRUE(done.response().UnpackTo(&response)) << done.DebugString();
    return response;
  }

  std::string Refused(const v1::TuneRequest& request) {
    grpc::ClientContext context;
    Operation operation;
    const grpc::Status status = tunings_->Tune(&context, request, &operation);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), Not(HasSubstr("\n")));
    return status.error_message();
  }

  int Records() {
    grpc::ClientContext context;
    v1::ListRecordsRequest request;
    v1::ListRecordsResponse response;
    HONE_EXPECT_GRPC_OK(cache_->List(&context, request, &response));
    return response.records_size();
  }
};

TEST_F(StepTasksTest, AGraphIsTunedStoredAndFound) {
  Start();
  const auto graph = graphs::ParseOpGraph(kBranches, "branches.json");
  for (const NamedDecisions& task : kAllDecisions) {
    SCOPED_TRACE(task.task);
    const v1::TuneRequest request = RequestFor(task.task, kBranches);
    const v1::Record record = TuneStep(request).record();
    EXPECT_EQ(record.module_name(), "branches");
    EXPECT_EQ(record.key().task(), task.task);
    EXPECT_EQ(record.key().target(), "cluster");
    EXPECT_THAT(
        record.key().task_options(),
        StartsWith("objective=step-time;cluster=accelerators={count=4,"));
    EXPECT_EQ(record.key().module_fingerprint(),
              tuning::ParseSubject(kBranches, "b.json")->Fingerprint());
    EXPECT_EQ(record.unit(), "ms");
    EXPECT_LE(record.best_cost(), record.default_cost());
    EXPECT_EQ(record.tuned_module_digest(), "");
    EXPECT_THAT(record.verification().method(), StartsWith("checked: step"));
    const auto decision =
        tuning::ParseStepDecision(record.decision(), graph->size());
    ASSERT_TRUE(decision.ok()) << decision.status();
    const auto step = tuning::SimulateDecision(
        *graph, *graphs::FindCluster("v100x4"), *decision);
    ASSERT_TRUE(step.ok()) << step.status();
    EXPECT_EQ(step->result.seconds * 1e3, record.best_cost());

    // Under other names it is the same graph, and so is the cluster in words.
    v1::TuneRequest same = request;
    same.mutable_module()->set_content(absl::StrReplaceAll(
        kBranches, {{"\"name\":\"sum\"", "\"name\":\"total\""}}));
    SetCluster(task.task, graphs::PrintCluster(*graphs::FindCluster("v100x4")),
               *same.mutable_spec()->mutable_options());
    const v1::TuneResponse again = TuneStep(same);
    EXPECT_TRUE(again.cached());
    EXPECT_EQ(again.record().name(), record.name());

    v1::LookupRequest lookup;
    lookup.set_module_fingerprint(record.key().module_fingerprint());
    lookup.set_task(task.task);
    *lookup.mutable_options() = request.spec().options();
    v1::LookupResponse found;
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(cache_->Lookup(&context, lookup, &found));
    EXPECT_EQ(found.record().decision(), record.decision());
    SetCluster(task.task, "a100x8", *lookup.mutable_options());
    grpc::ClientContext other_context;
    EXPECT_EQ(cache_->Lookup(&other_context, lookup, &found).error_code(),
              grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_EQ(Records(), 4);
}

TEST_F(StepTasksTest, TheObjectiveIsPartOfTheKey) {
  Start();
  v1::TuneRequest request = RequestFor("placement", kBranchesModule);
  const v1::Record step = TuneStep(request).record();
  v1::PlacementOptions& options =
      *request.mutable_spec()->mutable_options()->mutable_placement();
  for (const auto objective : {v1::PlacementOptions::OBJECTIVE_UNSPECIFIED,
                               v1::PlacementOptions::MAX_LOAD}) {
    options.set_objective(objective);
    const v1::Record load = TuneStep(request).record();
    EXPECT_NE(load.name(), step.name());
    EXPECT_THAT(load.key().task_options(), StartsWith("contiguity=pipeline;"));
    EXPECT_THAT(load.decision(), HasSubstr("\"loads\""));
  }
  EXPECT_EQ(Records(), 2);
  // PIPELINE is the default, so it may be there.
  options.set_objective(v1::PlacementOptions::STEP_TIME);
  options.set_contiguity(v1::PlacementOptions::PIPELINE);
  EXPECT_EQ(TuneStep(request).record().name(), step.name());
}

// A compiler gets the module with a device for each instruction.
TEST_F(StepTasksTest, CompileReturnsThePlacedModule) {
  Start();
  for (const NamedDecisions& task : kAllDecisions) {
    SCOPED_TRACE(task.task);
    const v1::TuneRequest tune = RequestFor(task.task, kBranchesModule);
    v1::CompileRequest request;
    *request.mutable_module() = tune.module();
    *request.add_specs() = tune.spec();
    *request.mutable_patience() = ToProtoDuration(absl::Seconds(60));
    grpc::ClientContext context;
    v1::CompileResponse response;
    HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
    ASSERT_EQ(response.decisions_size(), 1);
    EXPECT_EQ(response.decisions(0).missing(), "");
    EXPECT_THAT(response.decisions(0).decision(), HasSubstr("\"priorities\""));
    const std::vector<std::string> parts =
        absl::StrSplit(response.module(), "sharding={maximal device=");
    EXPECT_EQ(parts.size(), task.decisions.devices ? 9u : 1u);
    EXPECT_EQ(TuneStep(tune).record().tuned_module_digest().empty(),
              !task.decisions.devices);
  }
}

TEST_F(StepTasksTest, BadClustersAreNamedByTheirField) {
  Start();
  for (const NamedDecisions& task : kAllDecisions) {
    SCOPED_TRACE(task.task);
    const std::string field = absl::StrCat("options.", task.task, ".cluster");
    const auto refused = [&](const std::string& cluster) {
      return Refused(RequestFor(task.task, kBranches, cluster));
    };
    EXPECT_THAT(refused("abacus"),
                AllOf(HasSubstr(field), HasSubstr("v100x4")));
    EXPECT_THAT(refused("link = 3"),
                AllOf(HasSubstr(field), HasSubstr("expected a table")));
    const std::string v100 =
        graphs::PrintCluster(*graphs::FindCluster("v100x4"));
    EXPECT_THAT(refused(absl::StrReplaceAll(v100, {{"count=4", "count=0"}})),
                AllOf(HasSubstr(field), HasSubstr("count")));
    EXPECT_THAT(refused(absl::StrReplaceAll(v100, {{"count=4", "count=nan"}})),
                HasSubstr(field));
    EXPECT_THAT(refused(""), HasSubstr("has no cluster"));
    EXPECT_THAT(refused(absl::StrReplaceAll(v100, {{"count=4", "count=65"}})),
                HasSubstr("65"));
  }
  EXPECT_EQ(Records(), 0);
}

TEST_F(StepTasksTest, OptionsThatDoNotApplyAreRefused) {
  Start();
  v1::TuneRequest request = RequestFor("placement", kBranches);
  v1::PlacementOptions& options =
      *request.mutable_spec()->mutable_options()->mutable_placement();
  options.set_contiguity(v1::PlacementOptions::CONVEX);
  EXPECT_THAT(Refused(request),
              AllOf(HasSubstr("'convex'"), HasSubstr("'step-time'")));
  options.set_contiguity(v1::PlacementOptions::CONTIGUITY_UNSPECIFIED);
  options.set_objective(static_cast<v1::PlacementOptions::Objective>(77));
  EXPECT_THAT(Refused(request),
              AllOf(HasSubstr("options.placement.objective"), HasSubstr("77")));
  // The options of another task.
  request = RequestFor("joint", kBranches);
  request.mutable_spec()->set_task("fusion");
  EXPECT_THAT(Refused(request), AllOf(HasSubstr("\"joint\""),
                                      HasSubstr("the task is \"fusion\"")));
  request = RequestFor("schedule", kBranches);
  request.mutable_spec()->set_target("cpu");
  EXPECT_THAT(Refused(request), HasSubstr("expected 'cluster'"));
}

TEST_F(StepTasksTest, BadGraphsAreRefusedAndTheDaemonStaysUp) {
  Start();
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"from\":4,\"to\":5", "\"from\":4,\"to\":2"},
      {"\"flops\":2e6", "\"flops\":-2e6"},
      {"\"flops\":2e6", "\"flops\":NaN"},
      {"\"to\":5", "\"to\":55"}};
  for (const auto& change : changes) {
    const std::string text = absl::StrReplaceAll(kBranches, {change});
    ASSERT_NE(text, kBranches);
    EXPECT_THAT(Refused(RequestFor("joint", text)),
                HasSubstr("branches.json:"));
  }
  // Without opcodes or devices it is what the task is about.
  for (const NamedDecisions& task : kAllDecisions) {
    EXPECT_THAT(Refused(RequestFor(task.task, R"({"nodes":[],"edges":[]})")),
                HasSubstr("branches.json: nodes is empty, expected a node"));
    EXPECT_THAT(Refused(RequestFor(task.task, "{}")),
                HasSubstr("branches.json: nodes is missing"));
  }
  v1::TuneRequest load = RequestFor("placement", "{}");
  load.mutable_spec()->mutable_options()->mutable_placement()->Clear();
  EXPECT_THAT(Refused(load), HasSubstr("maxSizePerFPGA is missing"));
  EXPECT_EQ(Records(), 0);
  EXPECT_GT(TuneStep(RequestFor("joint", kBranches)).record().best_cost(), 0);
}

}  // namespace
}  // namespace hone::testing

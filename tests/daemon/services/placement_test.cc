// Weighted graphs through the daemon, which itself parses none.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "graphs/bundled_clusters.h"
#include "proto/duration.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/tuning/sample_graphs.h"
#include "tuning/subject.h"

namespace hone::testing {
namespace {

using google::longrunning::Operation;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tuning::kChain;

v1::TuneRequest RequestFor(absl::string_view graph) {
  v1::TuneRequest request;
  request.mutable_module()->set_content(std::string(graph));
  request.mutable_module()->set_file_name("chain.json");
  request.mutable_spec()->set_task("placement");
  request.mutable_spec()->mutable_budget()->set_trials(20);
  return request;
}

class PlacementTest : public DaemonTest {
 protected:
  v1::Record TuneGraph(const v1::TuneRequest& request) {
    const Operation started = Tune(request);
    const Operation done = started.done() ? started : WaitFor(started.name());
    v1::TuneResponse response;
    EXPECT_TRUE(done.response().UnpackTo(&response)) << done.DebugString();
    return response.record();
  }

  grpc::Status Refused(const v1::TuneRequest& request) {
    grpc::ClientContext context;
    Operation operation;
    return tunings_->Tune(&context, request, &operation);
  }
};

TEST_F(PlacementTest, AGraphIsTunedStoredAndFound) {
  Start();
  const v1::Record record = TuneGraph(RequestFor(kChain));
  EXPECT_EQ(record.module_name(), "chain");
  EXPECT_EQ(record.key().task(), "placement");
  EXPECT_EQ(record.key().target(), "cluster");
  EXPECT_EQ(record.key().task_options(), "contiguity=pipeline");
  EXPECT_EQ(record.key().module_fingerprint(),
            tuning::ParseSubject(kChain, "c.json")->Fingerprint());
  EXPECT_EQ(record.tuned_module_digest(), "");
  EXPECT_EQ(record.best_cost(), 3.5);
  EXPECT_EQ(record.verification().method(),
            "checked: max load recomputed, valid pipeline");
  const auto decision = nlohmann::json::parse(record.decision());
  EXPECT_EQ(decision["assignment"].size(), 4u);

  // Under other names and ids it is the same graph.
  const Operation again = Tune(RequestFor(
      absl::StrReplaceAll(kChain, {{"\"name\":\"a\"", "\"name\":\"z\""},
                                   {"Id\":3", "Id\":33"},
                                   {"\"id\":3", "\"id\":33"}})));
  EXPECT_TRUE(again.done());
  v1::TuneResponse response;
  ASSERT_TRUE(again.response().UnpackTo(&response));
  EXPECT_TRUE(response.cached());
  EXPECT_EQ(response.record().name(), record.name());

  grpc::ClientContext context;
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint(record.key().module_fingerprint());
  lookup.set_task("placement");
  v1::LookupResponse found;
  HONE_EXPECT_GRPC_OK(cache_->Lookup(&context, lookup, &found));
  EXPECT_EQ(found.record().decision(), record.decision());
}

TEST_F(PlacementTest, ContiguityIsAnotherKey) {
  Start();
  TuneGraph(RequestFor(kChain));
  for (const auto& [contiguity, name] :
       std::vector<std::pair<v1::PlacementOptions::Contiguity, std::string>>{
           {v1::PlacementOptions::CONVEX, "contiguity=convex"},
           {v1::PlacementOptions::NONE, "contiguity=none"}}) {
    v1::TuneRequest request = RequestFor(kChain);
    request.mutable_spec()
        ->mutable_options()
        ->mutable_placement()
        ->set_contiguity(contiguity);
    EXPECT_EQ(TuneGraph(request).key().task_options(), name);
  }
}

constexpr absl::string_view kTwoOperators = R"(HloModule two

ENTRY main {
  x = f32[4,4] parameter(0)
  a = f32[4,4] exponential(x)
  ROOT r = f32[4,4] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

TEST_F(PlacementTest, AModuleIsPlacedOnAClusterByNameOrInWords) {
  Start();
  v1::TuneRequest request = RequestFor(kTwoOperators);
  request.mutable_module()->set_file_name("two.hlo");
  v1::PlacementOptions& options =
      *request.mutable_spec()->mutable_options()->mutable_placement();
  options.set_cluster("v100x4");
  const v1::Record record = TuneGraph(request);
  EXPECT_EQ(record.module_name(), "two");
  EXPECT_EQ(record.key().module_fingerprint(),
            tuning::ParseSubject(kTwoOperators, "two.hlo")->Fingerprint());
  EXPECT_THAT(record.key().task_options(),
              StartsWith("contiguity=pipeline;cluster=accelerators={count=4,"));
  // The argument that both read, and they.
  EXPECT_EQ(nlohmann::json::parse(record.decision())["assignment"].size(), 3u);

  options.set_cluster(graphs::PrintCluster(*graphs::FindCluster("v100x4")));
  const Operation again = Tune(request);
  EXPECT_TRUE(again.done());
  v1::TuneResponse response;
  ASSERT_TRUE(again.response().UnpackTo(&response));
  EXPECT_TRUE(response.cached());

  grpc::ClientContext context;
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint(record.key().module_fingerprint());
  lookup.set_task("placement");
  *lookup.mutable_options() = request.spec().options();
  v1::LookupResponse found;
  HONE_EXPECT_GRPC_OK(cache_->Lookup(&context, lookup, &found));
  EXPECT_EQ(found.record().decision(), record.decision());
  grpc::ClientContext other_context;
  lookup.mutable_options()->mutable_placement()->set_cluster("a100x8");
  EXPECT_EQ(cache_->Lookup(&other_context, lookup, &found).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(PlacementTest, ClustersThatDoNotFitTheRequestAreRefused) {
  Start();
  const auto refused = [&](absl::string_view subject,
                           const std::string& cluster) {
    v1::TuneRequest request = RequestFor(subject);
    request.mutable_spec()->mutable_options()->mutable_placement()->set_cluster(
        cluster);
    const grpc::Status status = Refused(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(refused(kTwoOperators, ""), HasSubstr("or a cluster to place"));
  EXPECT_THAT(
      refused(kTwoOperators, "abacus"),
      AllOf(HasSubstr("options.placement.cluster"), HasSubstr("v100x4")));
  EXPECT_THAT(refused(kTwoOperators, "link = 3"),
              AllOf(HasSubstr("options.placement.cluster"),
                    HasSubstr("expected a table")));
  EXPECT_THAT(refused(kChain, "v100x4"), HasSubstr("lists its devices"));
}

// Nothing is evaluated, so the limit of evaluations does not count.
TEST_F(PlacementTest, ALargeModuleIsPlaced) {
  config_.max_evaluation_flops = 10;
  Start();
  v1::TuneRequest request = RequestFor(kTwoOperators);
  request.mutable_spec()->set_task("pass_order");
  EXPECT_EQ(Refused(request).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  request.mutable_spec()->set_task("placement");
  request.mutable_spec()->mutable_options()->mutable_placement()->set_cluster(
      "a100x8");
  EXPECT_EQ(TuneGraph(request).module_name(), "two");
}

// A compiler gets the decision, and the graph as it was sent.
TEST_F(PlacementTest, CompileLeavesTheGraphAsItIs) {
  Start();
  v1::CompileRequest request;
  *request.mutable_module() = RequestFor(kChain).module();
  *request.add_specs() = RequestFor(kChain).spec();
  *request.mutable_patience() = ToProtoDuration(absl::Seconds(60));
  for (const v1::ModuleFormat format :
       {v1::MODULE_FORMAT_TEXT, v1::MODULE_FORMAT_PROTO}) {
    request.set_format(format);
    grpc::ClientContext context;
    v1::CompileResponse response;
    HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
    EXPECT_EQ(response.module(), kChain);
    ASSERT_EQ(response.decisions_size(), 1);
    const v1::Decision& decision = response.decisions(0);
    EXPECT_EQ(decision.missing(), "");
    EXPECT_THAT(decision.decision(), HasSubstr("\"assignment\":["));
    EXPECT_THAT(decision.verification().method(), StartsWith("checked: "));
  }
  // At once and without a result: the default.
  request.clear_patience();
  request.mutable_module()->set_content(
      absl::StrReplaceAll(kChain, {{"cpuLatency\":10", "cpuLatency\":11"}}));
  grpc::ClientContext context;
  v1::CompileResponse response;
  HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
  EXPECT_EQ(response.module(), request.module().content());
}

TEST_F(PlacementTest, BadGraphsAreRefusedAndTheDaemonStaysUp) {
  Start();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {absl::StrReplaceAll(kChain, {{"\"sourceId\":1,\"destId\":2",
                                     "\"sourceId\":3,\"destId\":2"}}),
       "cycle"},
      {absl::StrReplaceAll(kChain, {{"cpuLatency\":1,", "cpuLatency\":-1,"}}),
       "nodes[3].cpuLatency is -1"},
      {absl::StrReplaceAll(kChain, {{"cpuLatency\":1,", "cpuLatency\":NaN,"}}),
       "chain.json:5:"},
      {absl::StrReplaceAll(kChain, {{"destId\":3", "destId\":9"}}),
       "edges[2].destId"},
      {absl::StrReplaceAll(kChain, {{"maxCPUs\":1", "maxCPUs\":0"}}),
       "nodes[3]"},
      {"{\"nodes\":", "chain.json:1:"},
      {std::string(100'000, '['), "chain.json"},
      {"{\"a\":" + std::string(1'000'000, '['), "chain.json:1:"}};
  for (const auto& [graph, message] : cases) {
    const grpc::Status status = Refused(RequestFor(graph));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(ErrorInfoOf(status).reason(), "MALFORMED_MODULE");
    EXPECT_THAT(status.error_message(), HasSubstr(message));
    EXPECT_THAT(status.error_message(), ::testing::Not(HasSubstr("\n")));
  }
  EXPECT_EQ(TuneGraph(RequestFor(kChain)).best_cost(), 3.5);
}

TEST_F(PlacementTest, TheWrongKindOfSubjectIsRefused) {
  Start();
  v1::TuneRequest module = RequestFor(kModule);
  module.mutable_module()->set_file_name("m.hlo");
  grpc::Status status = Refused(module);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "INVALID_FIELD");
  EXPECT_THAT(status.error_message(),
              HasSubstr("tiny is an HLO module, expected a weighted graph for "
                        "task 'placement'"));

  v1::TuneRequest graph = RequestFor(kChain);
  graph.mutable_spec()->set_task("pass_order");
  status = Refused(graph);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "INVALID_FIELD");
  EXPECT_THAT(status.error_message(),
              HasSubstr("chain is a weighted graph, expected an HLO module for "
                        "task 'pass_order'"));

  v1::OpenEnvironmentRequest open;
  *open.mutable_module() = graph.module();
  v1::OpenEnvironmentResponse opened;
  grpc::ClientContext context;
  status = environments_->OpenEnvironment(&context, open, &opened);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("chain.json is a weighted graph, expected an HLO "
                        "module"));

  v1::TuneRequest contiguity = RequestFor(kChain);
  contiguity.mutable_spec()
      ->mutable_options()
      ->mutable_placement()
      ->set_contiguity(static_cast<v1::PlacementOptions::Contiguity>(77));
  status = Refused(contiguity);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "INVALID_FIELD");
  EXPECT_THAT(status.error_message(), HasSubstr("77"));
}

}  // namespace
}  // namespace hone::testing

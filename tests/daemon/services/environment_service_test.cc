#include <cmath>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "hlo/analysis/op_count.h"
#include "hlo/ir/opcode.h"
#include "hlo/passes/pipeline.h"
#include "hlo/proto/io.h"
#include "hlo/read_module.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class EnvironmentServiceTest : public DaemonTest {
 protected:
  // Starts the daemon and learns the actions.
  void StartAndLearn() {
    Start();
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(environments_->GetSpaces(&context, {}, &spaces_));
  }

  int32_t Action(const std::string& name) const {
    for (int i = 0; i < spaces_.actions_size(); ++i) {
      if (spaces_.actions(i) == name) return i;
    }
    ADD_FAILURE() << "no action " << name;
    return -1;
  }
  int32_t Stop() const { return spaces_.actions_size() - 1; }

  static v1::OpenEnvironmentRequest Asking(
      const std::string& module = std::string(kModule)) {
    v1::OpenEnvironmentRequest request;
    request.mutable_module()->set_content(module);
    return request;
  }
  grpc::Status TryOpen(const v1::OpenEnvironmentRequest& request,
                       v1::OpenEnvironmentResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::OpenEnvironmentResponse ignored;
    return environments_->OpenEnvironment(
        &context, request, response == nullptr ? &ignored : response);
  }
  v1::OpenEnvironmentResponse Open(
      const v1::OpenEnvironmentRequest& request = Asking()) {
    v1::OpenEnvironmentResponse response;
    HONE_EXPECT_GRPC_OK(TryOpen(request, &response));
    return response;
  }
  std::string OpenName() { return Open().environment().name(); }

  static v1::StepRequest Taking(const std::string& name,
                                const std::vector<int32_t>& actions) {
    v1::StepRequest request;
    request.set_name(name);
    request.mutable_actions()->Add(actions.begin(), actions.end());
    return request;
  }
  grpc::Status TryStep(const v1::StepRequest& request,
                       v1::StepResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::StepResponse ignored;
    return environments_->Step(&context, request,
                               response == nullptr ? &ignored : response);
  }
  v1::StepResponse Step(const v1::StepRequest& request) {
    v1::StepResponse response;
    HONE_EXPECT_GRPC_OK(TryStep(request, &response));
    EXPECT_EQ(response.steps_size(), request.actions_size());
    return response;
  }

  grpc::Status TryFork(const std::string& name,
                       v1::ForkResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::ForkRequest request;
    request.set_name(name);
    v1::ForkResponse ignored;
    return environments_->Fork(&context, request,
                               response == nullptr ? &ignored : response);
  }
  grpc::Status Close(const std::string& name) {
    grpc::ClientContext context;
    v1::CloseRequest request;
    request.set_name(name);
    v1::CloseResponse response;
    return environments_->Close(&context, request, &response);
  }

  v1::GetSpacesResponse spaces_;
};

// Expects an error of that code and reason.
void ExpectError(const grpc::Status& status, grpc::StatusCode code,
                 const std::string& reason, const std::string& message) {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  EXPECT_EQ(ErrorInfoOf(status).reason(), reason);
  EXPECT_THAT(status.error_message(), HasSubstr(message));
}

TEST_F(EnvironmentServiceTest, SpacesNameActionsAndNodeKinds) {
  StartAndLearn();
  EXPECT_EQ(spaces_.actions(Stop()), "stop");
  EXPECT_GT(Action("algsimp"), -1);
  EXPECT_EQ(spaces_.node_kinds_size(), hlo::kOpcodeCount);
  EXPECT_EQ(spaces_.node_kinds(static_cast<int>(hlo::Opcode::kAdd)), "add");
  EXPECT_GT(spaces_.node_features(), 0);
  EXPECT_EQ(spaces_.scores_size(), 2);
}

TEST_F(EnvironmentServiceTest, RewardsAreTheDropsOfTheScore) {
  StartAndLearn();
  const v1::OpenEnvironmentResponse opened = Open();
  EXPECT_THAT(opened.environment().name(),
              StartsWith("projects/default/environments/"));
  EXPECT_EQ(opened.environment().unit(), "ops");
  EXPECT_EQ(opened.environment().initial_score(), 8);
  EXPECT_EQ(opened.observation().score(), 8);
  EXPECT_EQ(opened.observation().remaining_steps(),
            opened.environment().max_steps());

  const v1::StepResponse taken =
      Step(Taking(opened.environment().name(),
                  {Action("dce"), Action("cse"), Action("cse"), Stop()}));
  EXPECT_DOUBLE_EQ(taken.steps(0).reward(), std::log(8.0 / 7));
  EXPECT_EQ(taken.steps(0).observation().score(), 7);
  EXPECT_DOUBLE_EQ(taken.steps(1).reward(),
                   std::log(7.0 / taken.steps(1).observation().score()));
  EXPECT_EQ(taken.steps(2).reward(), 0);
  EXPECT_FALSE(taken.steps(2).terminated());
  EXPECT_TRUE(taken.steps(3).terminated());
  EXPECT_FALSE(taken.steps(3).truncated());
  EXPECT_EQ(taken.steps(3).observation().remaining_steps(),
            opened.environment().max_steps() - 4);
}

TEST_F(EnvironmentServiceTest, TheDefaultScoreIsThatOfThePipeline) {
  StartAndLearn();
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string bytes,
      hlo::ReadFileBytes(HONE_SOURCE_DIR
                         "/bench/data/corpus/mlp.train.hlo.zst"));
  HONE_ASSERT_OK_AND_ASSIGN(hlo::Module module, hlo::ParseHlo(bytes, "mlp"));
  HONE_ASSERT_OK(hlo::RunPipeline(module, "xla-cpu"));
  EXPECT_EQ(Open(Asking(bytes)).environment().default_score(),
            hlo::CountOps(module));
}

TEST_F(EnvironmentServiceTest, ScoresCanBeModelledTime) {
  StartAndLearn();
  v1::OpenEnvironmentRequest request = Asking();
  request.mutable_options()->mutable_pass_order()->set_score(
      v1::PassOrderOptions::XLA);
  const v1::OpenEnvironmentResponse opened = Open(request);
  EXPECT_EQ(opened.environment().unit(), "ns");
  EXPECT_NE(opened.environment().initial_score(), 8);
  const v1::StepResponse taken =
      Step(Taking(opened.environment().name(), {Action("algsimp")}));
  EXPECT_DOUBLE_EQ(
      taken.steps(0).reward(),
      opened.observation().score() - taken.steps(0).observation().score());
}

TEST_F(EnvironmentServiceTest, TheLimitOfStepsTruncates) {
  StartAndLearn();
  v1::OpenEnvironmentRequest request = Asking();
  request.set_max_steps(2);
  const std::string name = Open(request).environment().name();
  const v1::StepResponse taken =
      Step(Taking(name, {Action("dce"), Action("dce")}));
  EXPECT_FALSE(taken.steps(0).truncated());
  EXPECT_TRUE(taken.steps(1).truncated());
  EXPECT_FALSE(taken.steps(1).terminated());
  ExpectError(TryStep(Taking(name, {Stop()})),
              grpc::StatusCode::FAILED_PRECONDITION, "EPISODE_ENDED", "limit");
}

TEST_F(EnvironmentServiceTest, PartsAreSentWhenAskedFor) {
  StartAndLearn();
  v1::OpenEnvironmentRequest request = Asking();
  const v1::OpenEnvironmentResponse bare = Open(request);
  EXPECT_THAT(bare.observation().histogram(), IsEmpty());
  EXPECT_FALSE(bare.observation().has_graph());

  request.mutable_parts()->set_histogram(true);
  request.mutable_parts()->set_graph(true);
  const v1::OpenEnvironmentResponse full = Open(request);
  const v1::Observation& observation = full.observation();
  ASSERT_EQ(observation.histogram_size(), spaces_.node_kinds_size());
  EXPECT_EQ(observation.histogram(static_cast<int>(hlo::Opcode::kAdd)), 3);
  EXPECT_EQ(observation.histogram(static_cast<int>(hlo::Opcode::kMultiply)), 1);
  EXPECT_EQ(observation.graph().node_kinds_size(), 8);
  EXPECT_EQ(observation.graph().node_features_size(),
            8 * spaces_.node_features());
  // One for each operand.
  EXPECT_EQ(observation.graph().edge_sources_size(), 11);
  EXPECT_EQ(observation.graph().edge_targets_size(), 11);

  // A step has the parts of its environment unless it asks for others.
  v1::StepRequest step = Taking(full.environment().name(), {Action("dce")});
  EXPECT_EQ(Step(step).steps(0).observation().graph().node_kinds_size(), 7);
  step.mutable_parts()->set_histogram(true);
  EXPECT_FALSE(Step(step).steps(0).observation().has_graph());
}

TEST_F(EnvironmentServiceTest, TheMaskHasWhatWasTriedOrAll) {
  StartAndLearn();
  const std::string name = OpenName();
  const int dce = Action("dce");
  v1::StepResponse taken = Step(Taking(name, {dce}));
  EXPECT_THAT(taken.steps(0).observation().action_mask(), Each(true));
  taken = Step(Taking(name, {dce}));
  EXPECT_FALSE(taken.steps(0).observation().action_mask(dce));
  // Allowed all the same, and without effect.
  v1::StepRequest request = Taking(name, {dce});
  request.mutable_parts()->set_exact_mask(true);
  taken = Step(request);
  EXPECT_EQ(taken.steps(0).reward(), 0);
  const auto exact = taken.steps(0).observation().action_mask();
  ASSERT_EQ(exact.size(), spaces_.actions_size());
  EXPECT_TRUE(exact.Get(Stop()));
  for (int action = 0; action < Stop(); ++action) {
    v1::ForkResponse fork;
    HONE_EXPECT_GRPC_OK(TryFork(name, &fork));
    v1::StepRequest try_it = Taking(fork.environment().name(), {action});
    try_it.mutable_parts()->set_histogram(true);
    const v1::Observation after = Step(try_it).steps(0).observation();
    // If `action` changed nothing, the state is the same, and its mask now
    // shows that.
    EXPECT_EQ(after.action_mask(action), exact.Get(action))
        << spaces_.actions(action);
    HONE_EXPECT_GRPC_OK(Close(fork.environment().name()));
  }
}

TEST_F(EnvironmentServiceTest, ForksGoOnByThemselves) {
  StartAndLearn();
  const std::string parent = OpenName();
  Step(Taking(parent, {Action("dce")}));
  v1::ForkResponse fork;
  HONE_EXPECT_GRPC_OK(TryFork(parent, &fork));
  EXPECT_NE(fork.environment().name(), parent);
  EXPECT_EQ(fork.observation().score(), 7);
  Step(Taking(fork.environment().name(), {Action("algsimp"), Stop()}));
  HONE_EXPECT_GRPC_OK(Close(parent));
  ExpectError(TryStep(Taking(fork.environment().name(), {Stop()})),
              grpc::StatusCode::FAILED_PRECONDITION, "EPISODE_ENDED", "stop");
}

TEST_F(EnvironmentServiceTest, ARepeatedRequestIsDoneOnce) {
  StartAndLearn();
  const std::string name = OpenName();
  v1::StepRequest request = Taking(name, {Action("dce"), Action("cse")});
  request.set_request_id("first");
  const v1::StepResponse once = Step(request);
  EXPECT_EQ(Step(request).SerializeAsString(), once.SerializeAsString());
  request = Taking(name, {Action("algsimp")});
  request.set_request_id("second");
  const int remaining = Step(request).steps(0).observation().remaining_steps();
  EXPECT_EQ(remaining, once.steps(1).observation().remaining_steps() - 1);
  // Without an id every request counts.
  EXPECT_EQ(Step(Taking(name, {Action("dce")}))
                .steps(0)
                .observation()
                .remaining_steps(),
            remaining - 1);
}

TEST_F(EnvironmentServiceTest, FailedStepsLeaveTheEnvironmentAsItWas) {
  StartAndLearn();
  const std::string name = OpenName();
  const int dce = Action("dce");
  ExpectError(TryStep(Taking(name, {dce, Stop() + 1})),
              grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
              "expected 0 to");
  ExpectError(TryStep(Taking(name, {-1})), grpc::StatusCode::INVALID_ARGUMENT,
              "INVALID_FIELD", "action -1");
  ExpectError(TryStep(Taking(name, {})), grpc::StatusCode::INVALID_ARGUMENT,
              "INVALID_FIELD", "expected at least one");
  ExpectError(TryStep(Taking(name, {dce, Stop(), dce})),
              grpc::StatusCode::FAILED_PRECONDITION, "EPISODE_ENDED",
              "before action 2 of 3");
  EXPECT_DOUBLE_EQ(Step(Taking(name, {dce})).steps(0).reward(),
                   std::log(8.0 / 7));
}

TEST_F(EnvironmentServiceTest, ABatchStepsEachByItself) {
  StartAndLearn();
  const int dce = Action("dce");
  std::vector<std::string> names;
  v1::StepBatchRequest request;
  for (int i = 0; i < 20; ++i) {
    names.push_back(OpenName());
    *request.add_requests() = Taking(names.back(), {i % 2 == 0 ? dce : Stop()});
  }
  *request.add_requests() = Taking("projects/default/environments/none", {dce});
  v1::StepBatchResponse response;
  {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(environments_->StepBatch(&context, request, &response));
  }
  ASSERT_EQ(response.results_size(), 21);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(response.results(i).has_response());
    EXPECT_DOUBLE_EQ(response.results(i).response().steps(0).reward(),
                     i % 2 == 0 ? std::log(8.0 / 7) : 0);
  }
  EXPECT_EQ(response.results(20).error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_GT(response.results(20).error().details_size(), 0);

  *request.add_requests() = Taking(names[0], {dce});
  {
    grpc::ClientContext context;
    ExpectError(environments_->StepBatch(&context, request, &response),
                grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
                "comes twice");
  }
  while (request.requests_size() <= 4096) request.add_requests();
  grpc::ClientContext context;
  ExpectError(environments_->StepBatch(&context, request, &response),
              grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
              "4097 of them, expected at most 4096");
}

TEST_F(EnvironmentServiceTest, BadRequestsToOpenAreExplained) {
  StartAndLearn();
  v1::OpenEnvironmentRequest request = Asking("HloModule m\n\nENTRY e {\n");
  request.mutable_module()->set_file_name("bad.hlo");
  ExpectError(TryOpen(request), grpc::StatusCode::INVALID_ARGUMENT,
              "MALFORMED_MODULE", "bad.hlo:");
  ExpectError(TryOpen({}), grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
              "expected content or digest");
  request = Asking();
  request.mutable_module()->set_digest(Sha256Hex("nothing"));
  ExpectError(TryOpen(request), grpc::StatusCode::NOT_FOUND, "MODULE_UNKNOWN",
              Sha256Hex("nothing"));
  request = Asking();
  request.set_task("knitting");
  ExpectError(TryOpen(request), grpc::StatusCode::NOT_FOUND, "NOT_FOUND",
              "pass_order");
  request = Asking();
  request.mutable_options()->mutable_pass_order()->set_score(
      static_cast<v1::PassOrderOptions::Score>(3));
  ExpectError(TryOpen(request), grpc::StatusCode::INVALID_ARGUMENT,
              "INVALID_FIELD",
              "pass_order.score: 3, expected a value of Score");
  request = Asking();
  request.set_parent("projects/other");
  ExpectError(TryOpen(request), grpc::StatusCode::NOT_FOUND, "NOT_FOUND",
              "projects/other");
  request = Asking();
  request.set_max_steps(10'001);
  ExpectError(TryOpen(request), grpc::StatusCode::INVALID_ARGUMENT,
              "INVALID_FIELD", "max_steps: 10001, expected 0 to 10000");
}

TEST_F(EnvironmentServiceTest, StoredModulesAreOpenedByDigest) {
  StartAndLearn();
  {
    grpc::ClientContext context;
    v1::UploadResponse response;
    const auto writer = modules_->Upload(&context, &response);
    v1::UploadRequest part;
    part.mutable_header()->set_digest(Sha256Hex(kModule));
    part.mutable_header()->set_size_bytes(static_cast<int64_t>(kModule.size()));
    writer->Write(part);
    part.set_chunk(std::string(kModule));
    writer->Write(part);
    writer->WritesDone();
    HONE_EXPECT_GRPC_OK(writer->Finish());
  }
  v1::OpenEnvironmentRequest request;
  request.mutable_module()->set_digest(Sha256Hex(kModule));
  EXPECT_EQ(Open(request).environment().initial_score(), 8);
}

TEST_F(EnvironmentServiceTest, ClosedAndUnknownEnvironmentsAreNotFound) {
  StartAndLearn();
  const std::string name = OpenName();
  HONE_EXPECT_GRPC_OK(Close(name));
  for (const grpc::Status& status :
       {TryStep(Taking(name, {0})), TryFork(name), Close(name)}) {
    ExpectError(status, grpc::StatusCode::NOT_FOUND, "NOT_FOUND", name);
  }
  ExpectError(Close("projects/default/tunings/1"),
              grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
              "expected \"projects/PROJECT/environments/ID\"");
}

TEST_F(EnvironmentServiceTest, WhatNobodyUsesExpires) {
  config_.environment_idle = absl::Seconds(100);
  StartAndLearn();
  const std::string used = OpenName();
  const std::string idle = OpenName();
  clock_.Advance(absl::Seconds(60));
  Step(Taking(used, {0}));
  clock_.Advance(absl::Seconds(60));
  ExpectError(TryStep(Taking(idle, {0})), grpc::StatusCode::NOT_FOUND,
              "NOT_FOUND", idle);
  Step(Taking(used, {0}));
  EXPECT_EQ(Metric("hone_environments_open"), 1);
  EXPECT_EQ(Metric("hone_environments_expired_total"), 1);
}

TEST_F(EnvironmentServiceTest, EnvironmentsAreLimitedInNumber) {
  config_.max_environments = 2;
  StartAndLearn();
  const std::string name = OpenName();
  OpenName();
  for (const grpc::Status& status : {TryOpen(Asking()), TryFork(name)}) {
    ExpectError(status, grpc::StatusCode::RESOURCE_EXHAUSTED,
                "TOO_MANY_ENVIRONMENTS", "2 environments are open");
    EXPECT_TRUE(HasRetryInfo(status));
  }
  HONE_EXPECT_GRPC_OK(Close(name));
  OpenName();
  clock_.Advance(config_.environment_idle);
  OpenName();
}

TEST_F(EnvironmentServiceTest, EnvironmentsAreLimitedInMemory) {
  config_.environment_memory_bytes = 20 << 10;
  StartAndLearn();
  const std::string name = OpenName();
  ExpectError(TryFork(name), grpc::StatusCode::RESOURCE_EXHAUSTED,
              "TOO_MANY_ENVIRONMENTS", "take all of their 10240 bytes");
  // The memo is bounded, too, and nothing depends on it.
  Step(Taking(name, {Action("dce"), Action("cse"), Action("algsimp")}));
}

TEST_F(EnvironmentServiceTest, ResponsesAreLimitedInSize) {
  StartAndLearn();
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string bytes,
      hlo::ReadFileBytes(HONE_SOURCE_DIR
                         "/bench/data/corpus/gpt2_2l.train.hlo.zst"));
  v1::OpenEnvironmentRequest request = Asking(bytes);
  request.set_max_steps(10'000);
  const std::string name = Open(request).environment().name();
  v1::StepRequest step =
      Taking(name, std::vector<int32_t>(5000, Action("dce")));
  step.mutable_parts()->set_graph(true);
  ExpectError(TryStep(step), grpc::StatusCode::RESOURCE_EXHAUSTED,
              "RESPONSE_TOO_LARGE", "expected fewer actions, or no graph");
  // Nothing was done.
  EXPECT_EQ(
      Step(Taking(name, {Stop()})).steps(0).observation().remaining_steps(),
      9999);
}

TEST_F(EnvironmentServiceTest, OneCallAtATimeUsesAnEnvironment) {
  StartAndLearn();
  const std::string name = OpenName();
  std::vector<std::future<grpc::Status>> calls;
  for (int i = 0; i < 16; ++i) {
    calls.push_back(std::async(std::launch::async, [this, name] {
      return TryStep(Taking(name, {0}));
    }));
  }
  int taken = 0;
  for (std::future<grpc::Status>& call : calls) {
    const grpc::Status status = call.get();
    if (status.ok()) {
      ++taken;
    } else {
      ExpectError(status, grpc::StatusCode::ABORTED, "ENVIRONMENT_BUSY", name);
    }
  }
  EXPECT_GE(taken, 1);
  const v1::StepResponse last = Step(Taking(name, {0}));
  v1::ForkResponse fork;
  HONE_EXPECT_GRPC_OK(TryFork(name, &fork));
  EXPECT_EQ(fork.observation().remaining_steps(),
            fork.environment().max_steps() - taken - 1);
}

TEST_F(EnvironmentServiceTest, MetricsFollow) {
  StartAndLearn();
  EXPECT_EQ(Metric("hone_environments_open"), 0);
  const std::string name = OpenName();
  HONE_EXPECT_GRPC_OK(TryFork(name));
  EXPECT_EQ(Metric("hone_environments_open"), 2);
  EXPECT_EQ(Metric("hone_environments_opened_total"), 2);
  Step(Taking(name, {0, 1, 2}));
  EXPECT_EQ(Metric("hone_environment_step_duration_seconds_count"), 3);
  HONE_EXPECT_GRPC_OK(Close(name));
  EXPECT_EQ(Metric("hone_environments_open"), 1);
}

TEST_F(EnvironmentServiceTest, WhatIsRememberedChangesNoResult) {
  StartAndLearn();
  std::vector<int32_t> walk;
  for (int i = 0; i < Stop(); ++i) walk.push_back(i);
  const std::string expected =
      Step(Taking(OpenName(), walk)).SerializeAsString();
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(Step(Taking(OpenName(), walk)).SerializeAsString(), expected);
  }
}

}  // namespace
}  // namespace hone::testing

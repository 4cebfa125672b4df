// Several clients that share one tuning, and how they leave it.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/daemon/access/token_file.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using google::longrunning::Operation;

class SharedTuningsTest : public DaemonTest {
 protected:
  SharedTuningsTest() {
    config_.tokens = folder_.path() + "/tokens";
    WriteTokens(config_.tokens,
                {{"a", "tune"}, {"b", "tune"}, {"boss", "admin"}});
  }

  static void Authorize(grpc::ClientContext& context,
                        const std::string& client) {
    context.AddMetadata("authorization", "Bearer secret-" + client);
  }

  // Starts or joins a tuning that does not end by itself; returns its name.
  std::string TuneAs(const std::string& client,
                     const std::string& request_id = "") {
    v1::TuneRequest request;
    request.mutable_module()->set_content(NumberedModule(1));
    request.mutable_spec()->set_optimizer("random");
    request.mutable_spec()->mutable_budget()->set_trials(1'000'000'000);
    request.set_request_id(request_id);
    grpc::ClientContext context;
    Authorize(context, client);
    Operation operation;
    HONE_EXPECT_GRPC_OK(tunings_->Tune(&context, request, &operation));
    return TuningOf(operation);
  }

  grpc::Status Leave(const std::string& client,
                     const v1::CancelTuningRequest& request,
                     v1::CancelTuningResponse& response) {
    grpc::ClientContext context;
    Authorize(context, client);
    return tunings_->CancelTuning(&context, request, &response);
  }

  v1::CancelTuningResponse LeaveAs(const std::string& client,
                                   const std::string& name,
                                   const std::string& request_id = "") {
    v1::CancelTuningRequest request;
    request.set_name(name);
    request.set_request_id(request_id);
    v1::CancelTuningResponse response;
    HONE_EXPECT_GRPC_OK(Leave(client, request, response));
    return response;
  }

  v1::Tuning::State StateOf(const std::string& name) {
    grpc::ClientContext context;
    Authorize(context, "a");
    v1::GetTuningRequest request;
    request.set_name(name);
    v1::Tuning tuning;
    HONE_EXPECT_GRPC_OK(tunings_->GetTuning(&context, request, &tuning));
    return tuning.state();
  }

  TemporaryDirectory folder_;
};

TEST_F(SharedTuningsTest, ItEndsWhenTheLastCallerLeaves) {
  Start();
  const std::string name = TuneAs("a");
  EXPECT_EQ(TuneAs("b"), name);
  const v1::CancelTuningResponse first = LeaveAs("a", name);
  EXPECT_EQ(first.shares_left(), 1);
  EXPECT_NE(first.tuning().state(), v1::Tuning::CANCELLED);
  EXPECT_NE(StateOf(name), v1::Tuning::CANCELLED);
  const v1::CancelTuningResponse last = LeaveAs("b", name);
  EXPECT_EQ(last.shares_left(), 0);
  EXPECT_EQ(last.tuning().state(), v1::Tuning::CANCELLED);
  EXPECT_EQ(StateOf(name), v1::Tuning::CANCELLED);
  // The next request starts another.
  EXPECT_NE(TuneAs("a"), name);
}

TEST_F(SharedTuningsTest, RequestsOfOneCallerLeaveByTheirIds) {
  Start();
  const std::string name = TuneAs("a", "1");
  EXPECT_EQ(TuneAs("a", "2"), name);
  EXPECT_EQ(TuneAs("a", "3"), name);
  // A retry holds no second share.
  EXPECT_EQ(TuneAs("a", "1"), name);
  EXPECT_EQ(LeaveAs("a", name, "1").shares_left(), 2);
  // Without an id, all of the caller leave.
  EXPECT_EQ(LeaveAs("a", name).tuning().state(), v1::Tuning::CANCELLED);
}

TEST_F(SharedTuningsTest, OthersCannotEndIt) {
  Start();
  const std::string name = TuneAs("a", "1");
  v1::CancelTuningRequest request;
  request.set_name(name);
  v1::CancelTuningResponse response;
  const grpc::Status stranger = Leave("b", request, response);
  EXPECT_EQ(stranger.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ErrorInfoOf(stranger).reason(), "NO_SHARE");
  request.set_request_id("2");
  EXPECT_EQ(ErrorInfoOf(Leave("a", request, response)).reason(), "NO_SHARE");

  google::longrunning::CancelOperationRequest operation;
  operation.set_name(OperationOf(name));
  grpc::ClientContext context;
  Authorize(context, "b");
  google::protobuf::Empty empty;
  EXPECT_EQ(
      operations_->CancelOperation(&context, operation, &empty).error_code(),
      grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(StateOf(name), v1::Tuning::CANCELLED);
}

TEST_F(SharedTuningsTest, ForceIsForAdministrators) {
  Start();
  const std::string name = TuneAs("a");
  EXPECT_EQ(TuneAs("b"), name);
  v1::CancelTuningRequest request;
  request.set_name(name);
  request.set_force(true);
  v1::CancelTuningResponse response;
  const grpc::Status refused = Leave("a", request, response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ErrorInfoOf(refused).reason(), "PERMISSION_DENIED");
  EXPECT_NE(StateOf(name), v1::Tuning::CANCELLED);
  HONE_EXPECT_GRPC_OK(Leave("boss", request, response));
  EXPECT_EQ(response.tuning().state(), v1::Tuning::CANCELLED);
}

TEST_F(SharedTuningsTest, OperationsAreLeftTheSameWay) {
  Start();
  const std::string name = TuneAs("a");
  TuneAs("b");
  google::longrunning::CancelOperationRequest request;
  request.set_name(OperationOf(name));
  for (const char* client : {"a", "b"}) {
    EXPECT_NE(StateOf(name), v1::Tuning::CANCELLED);
    grpc::ClientContext context;
    Authorize(context, client);
    google::protobuf::Empty empty;
    HONE_EXPECT_GRPC_OK(
        operations_->CancelOperation(&context, request, &empty));
  }
  EXPECT_EQ(StateOf(name), v1::Tuning::CANCELLED);
}

TEST_F(SharedTuningsTest, CompilationsHoldShares) {
  Start();
  v1::CompileRequest compile;
  compile.mutable_module()->set_content(NumberedModule(1));
  v1::TuningSpec& spec = *compile.add_specs();
  spec.set_optimizer("random");
  spec.mutable_budget()->set_trials(1'000'000'000);
  // Long enough for the tuning to be started.
  compile.mutable_patience()->set_seconds(1);
  v1::CompileResponse response;
  do {
    grpc::ClientContext context;
    Authorize(context, "a");
    HONE_EXPECT_GRPC_OK(compile_->Compile(&context, compile, &response));
  } while (response.decisions(0).tuning().empty());
  const std::string name = response.decisions(0).tuning();
  EXPECT_EQ(TuneAs("b"), name);
  EXPECT_EQ(LeaveAs("b", name).shares_left(), 1);
  EXPECT_EQ(LeaveAs("a", name).tuning().state(), v1::Tuning::CANCELLED);
}

TEST_F(SharedTuningsTest, ARestartEndsShares) {
  TemporaryDirectory state;
  StartOnDisk(state.path());
  const std::string name = TuneAs("a");
  server_->Drain();
  server_.reset();
  StartOnDisk(state.path());
  // Nobody shares it, so anyone may end it.
  EXPECT_EQ(LeaveAs("b", name).tuning().state(), v1::Tuning::CANCELLED);
}

}  // namespace
}  // namespace hone::testing

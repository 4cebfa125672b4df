// Requests that are repeated with their request_id.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using google::longrunning::Operation;

class RequestIdTest : public DaemonTest {
 protected:
  grpc::Status TryTune(const v1::TuneRequest& request, Operation& operation) {
    grpc::ClientContext context;
    return tunings_->Tune(&context, request, &operation);
  }

  grpc::Status TryOpen(const v1::OpenEnvironmentRequest& request,
                       v1::OpenEnvironmentResponse& response) {
    grpc::ClientContext context;
    return environments_->OpenEnvironment(&context, request, &response);
  }

  grpc::Status TryFork(const v1::ForkRequest& request,
                       v1::ForkResponse& response) {
    grpc::ClientContext context;
    return environments_->Fork(&context, request, &response);
  }

  static v1::TuneRequest TuneRequestWith(const std::string& id) {
    v1::TuneRequest request;
    request.mutable_module()->set_content(std::string(kModule));
    request.set_skip_cache(true);
    request.set_request_id(id);
    return request;
  }
};

TEST_F(RequestIdTest, ARepeatedTuneGetsTheFirstOperation) {
  Start();
  const v1::TuneRequest request = TuneRequestWith("one");
  Operation first;
  HONE_EXPECT_GRPC_OK(TryTune(request, first));
  // Without an id, a request that skips the cache would tune again.
  WaitFor(first.name());
  Operation repeated;
  HONE_EXPECT_GRPC_OK(TryTune(request, repeated));
  EXPECT_EQ(repeated.SerializeAsString(), first.SerializeAsString());
  Operation other;
  HONE_EXPECT_GRPC_OK(TryTune(TuneRequestWith("two"), other));
  EXPECT_NE(other.name(), first.name());
}

TEST_F(RequestIdTest, TheIdOfAnotherRequestIsRefused) {
  Start();
  Operation operation;
  HONE_EXPECT_GRPC_OK(TryTune(TuneRequestWith("one"), operation));
  v1::TuneRequest other = TuneRequestWith("one");
  other.mutable_spec()->set_seed(7);
  const grpc::Status refused = TryTune(other, operation);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(ErrorInfoOf(refused).reason(), "REQUEST_ID_REUSED");
  // Also by another method.
  v1::OpenEnvironmentRequest open;
  open.mutable_module()->set_content(std::string(kModule));
  open.set_request_id("one");
  v1::OpenEnvironmentResponse opened;
  EXPECT_EQ(ErrorInfoOf(TryOpen(open, opened)).reason(), "REQUEST_ID_REUSED");
}

TEST_F(RequestIdTest, AnErrorMayBeRepeated) {
  Start();
  v1::TuneRequest request = TuneRequestWith("one");
  request.mutable_spec()->set_optimizer("magic");
  Operation operation;
  EXPECT_EQ(TryTune(request, operation).error_code(),
            grpc::StatusCode::NOT_FOUND);
  HONE_EXPECT_GRPC_OK(TryTune(TuneRequestWith("one"), operation));
}

TEST_F(RequestIdTest, MalformedIdsAreRefused) {
  Start();
  Operation operation;
  for (const std::string& id : {std::string(129, 'a'), std::string("a\nb")}) {
    const grpc::Status status = TryTune(TuneRequestWith(id), operation);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(ErrorInfoOf(status).metadata().at("field"), "request_id");
  }
}

TEST_F(RequestIdTest, RepeatedOpensAndForksGetTheSameEnvironment) {
  Start();
  v1::OpenEnvironmentRequest open;
  open.mutable_module()->set_content(std::string(kModule));
  open.set_request_id("open");
  v1::OpenEnvironmentResponse opened;
  HONE_EXPECT_GRPC_OK(TryOpen(open, opened));
  v1::OpenEnvironmentResponse again;
  HONE_EXPECT_GRPC_OK(TryOpen(open, again));
  EXPECT_EQ(again.SerializeAsString(), opened.SerializeAsString());

  v1::ForkRequest fork;
  fork.set_name(opened.environment().name());
  v1::ForkResponse unnamed;
  HONE_EXPECT_GRPC_OK(TryFork(fork, unnamed));
  fork.set_request_id("fork");
  v1::ForkResponse forked;
  HONE_EXPECT_GRPC_OK(TryFork(fork, forked));
  v1::ForkResponse repeated;
  HONE_EXPECT_GRPC_OK(TryFork(fork, repeated));
  EXPECT_EQ(repeated.SerializeAsString(), forked.SerializeAsString());
  EXPECT_NE(forked.environment().name(), unnamed.environment().name());
  EXPECT_EQ(Metric("hone_environments_open"), 3);
}

}  // namespace
}  // namespace hone::testing

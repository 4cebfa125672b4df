#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "proto/duration.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using google::longrunning::Operation;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TuningServiceTest : public DaemonTest {
 protected:
  static v1::TuneRequest RequestFor(absl::string_view module) {
    v1::TuneRequest request;
    request.mutable_module()->set_content(std::string(module));
    return request;
  }

  v1::Tuning Cancel(const std::string& name) {
    grpc::ClientContext context;
    v1::CancelTuningRequest request;
    request.set_name(name);
    v1::CancelTuningResponse response;
    HONE_EXPECT_GRPC_OK(tunings_->CancelTuning(&context, request, &response));
    return response.tuning();
  }

  // All messages of a watch, and how it ended.
  std::pair<std::vector<v1::WatchTuningResponse>, grpc::Status> Watch(
      const std::string& name) {
    grpc::ClientContext context;
    v1::WatchTuningRequest request;
    request.set_name(name);
    auto reader = tunings_->WatchTuning(&context, request);
    std::vector<v1::WatchTuningResponse> updates;
    v1::WatchTuningResponse update;
    while (reader->Read(&update)) updates.push_back(update);
    return {updates, reader->Finish()};
  }
};

TEST_F(TuningServiceTest, TuneRunsToAVerifiedRecord) {
  Start();
  const Operation started = Tune(RequestFor(kModule));
  v1::TuneMetadata metadata;
  ASSERT_TRUE(started.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.tuning().name(), TuningOf(started));
  const Operation done = WaitFor(started.name());
  EXPECT_TRUE(done.done());
  v1::TuneResponse response;
  ASSERT_TRUE(done.response().UnpackTo(&response)) << done.DebugString();
  EXPECT_LE(response.record().best_cost(), response.record().default_cost());
  EXPECT_NE(response.record().verification().method(), "");
  EXPECT_EQ(response.record().tuning(), TuningOf(started));
  EXPECT_EQ(
      Metric("hone_tunings_finished_total{state=\"succeeded\",task=\"pass_"
             "order\"}"),
      1);
}

TEST_F(TuningServiceTest, TheSecondRequestIsACacheHit) {
  Start();
  TuneToEnd(kModule);
  const Operation again = Tune(RequestFor(kModule));
  EXPECT_TRUE(again.done());
  v1::TuneResponse response;
  ASSERT_TRUE(again.response().UnpackTo(&response));
  EXPECT_TRUE(response.cached());
  EXPECT_EQ(Metric("hone_cache_requests_total{result=\"hit\"}"), 1);

  v1::TuneRequest afresh = RequestFor(kModule);
  afresh.set_skip_cache(true);
  EXPECT_NE(Tune(afresh).name(), again.name());
}

TEST_F(TuningServiceTest, ConcurrentIdenticalRequestsShareOneTuning) {
  Start();
  constexpr int kClients = 16;
  absl::Mutex mu;
  std::set<std::string> names;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      const std::string name = TuneWithoutEnd(7);
      absl::MutexLock lock(&mu);
      names.insert(name);
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(names.size(), 1u);
  EXPECT_EQ(Metric("hone_inflight_deduplications_total"), kClients - 1);
  Cancel(*names.begin());
}

TEST_F(TuningServiceTest, NumericsAreAnotherKey) {
  Start();
  const v1::Record record = TuneToEnd(kModule);
  EXPECT_EQ(record.key().task_options(), "score=ops;numerics=reassociate");
  v1::TuneRequest request = RequestFor(kModule);
  request.mutable_spec()->mutable_options()->mutable_pass_order()->set_numerics(
      v1::NUMERICS_EXACT);
  const Operation started = Tune(request);
  EXPECT_FALSE(started.done());
  v1::TuneResponse response;
  ASSERT_TRUE(WaitFor(started.name()).response().UnpackTo(&response));
  EXPECT_EQ(response.record().key().task_options(), "score=ops;numerics=exact");
  // The default may be named.
  request.mutable_spec()->mutable_options()->mutable_pass_order()->set_numerics(
      v1::NUMERICS_REASSOCIATE);
  EXPECT_TRUE(Tune(request).done());
}

TEST_F(TuningServiceTest, TheModuleIsStoredAsItWasSent) {
  Start();
  TuneToEnd(kModule);
  grpc::ClientContext context;
  v1::ListTuningsResponse list;
  HONE_EXPECT_GRPC_OK(tunings_->ListTunings(&context, {}, &list));
  ASSERT_EQ(list.tunings_size(), 1);
  EXPECT_EQ(list.tunings(0).module_digest(), Sha256Hex(kModule));
}

TEST_F(TuningServiceTest, ValidateOnlyStartsNothing) {
  Start();
  v1::TuneRequest request = RequestFor(kModule);
  request.set_validate_only(true);
  EXPECT_TRUE(Tune(request).done());
  grpc::ClientContext context;
  v1::ListTuningsResponse list;
  HONE_EXPECT_GRPC_OK(tunings_->ListTunings(&context, {}, &list));
  EXPECT_EQ(list.tunings_size(), 0);
}

TEST_F(TuningServiceTest, BadRequestsAreRefused) {
  Start();
  const auto tune = [this](const v1::TuneRequest& request) {
    grpc::ClientContext context;
    Operation operation;
    return tunings_->Tune(&context, request, &operation);
  };
  v1::TuneRequest request;
  EXPECT_EQ(tune(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request = RequestFor(kModule);
  request.mutable_spec()->mutable_budget()->set_trials(-1);
  EXPECT_EQ(ErrorInfoOf(tune(request)).metadata().at("field"),
            "spec.budget.trials");
  request = RequestFor(kModule);
  request.mutable_spec()->mutable_options()->mutable_pass_order()->set_score(
      static_cast<v1::PassOrderOptions::Score>(-1));
  EXPECT_EQ(ErrorInfoOf(tune(request)).metadata().at("field"),
            "options.pass_order.score");
  request = RequestFor(kModule);
  request.mutable_spec()->mutable_options()->mutable_pass_order()->set_numerics(
      static_cast<v1::Numerics>(4));
  EXPECT_EQ(ErrorInfoOf(tune(request)).metadata().at("field"),
            "options.pass_order.numerics");
  EXPECT_THAT(tune(request).error_message(),
              HasSubstr("4, expected a value of Numerics"));
  request = RequestFor(kModule);
  request.set_parent("default");
  EXPECT_EQ(ErrorInfoOf(tune(request)).metadata().at("field"), "parent");
  request.set_parent("projects/other");
  EXPECT_EQ(tune(request).error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_parent("projects/default");
  request.mutable_spec()->set_optimizer("magic");
  EXPECT_THAT(tune(request).error_message(), HasSubstr("random"));
  EXPECT_EQ(tune(RequestFor("HloModule x")).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(TuningServiceTest, OptionsAreThoseOfTheTask) {
  Start();
  const auto tune = [&](const v1::TuneRequest& request) {
    grpc::ClientContext context;
    Operation operation;
    return tunings_->Tune(&context, request, &operation);
  };
  v1::TuneRequest request = RequestFor(kModule);
  request.mutable_spec()->mutable_options()->mutable_kernel()->set_threads(2);
  grpc::Status status = tune(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "INVALID_FIELD");
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("\"kernel\""), HasSubstr("\"pass_order\"")));
  request.mutable_spec()->set_task("kernel");
  request.mutable_spec()->mutable_options()->mutable_pass_order();
  status = tune(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("field"), "options");
}

TEST_F(TuningServiceTest, WatchEndsWithTheRecord) {
  Start();
  const std::string name = TuningOf(Tune(RequestFor(kModule)));
  const auto [updates, status] = Watch(name);
  HONE_EXPECT_GRPC_OK(status);
  ASSERT_FALSE(updates.empty());
  EXPECT_EQ(updates.back().tuning().state(), v1::Tuning::SUCCEEDED);
  EXPECT_EQ(updates.back().progress().phase(), v1::TuningProgress::DONE);
  EXPECT_TRUE(updates.back().has_record());
  EXPECT_GT(FromProtoDuration(updates.back().record().duration()),
            absl::ZeroDuration());
  double best = 1e300;
  for (const auto& update : updates) {
    if (!update.progress().has_best_cost()) continue;
    EXPECT_LE(update.progress().best_cost(), best);
    best = update.progress().best_cost();
  }
  // Watching what has ended gives its end.
  const auto [later, later_status] = Watch(name);
  HONE_EXPECT_GRPC_OK(later_status);
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].record().DebugString(),
            updates.back().record().DebugString());
}

TEST_F(TuningServiceTest, WatchersComeAndGo) {
  Start();
  const std::string name = TuneWithoutEnd(1);
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    v1::WatchTuningRequest request;
    request.set_name(name);
    auto reader = tunings_->WatchTuning(&context, request);
    v1::WatchTuningResponse update;
    do {
      ASSERT_TRUE(reader->Read(&update));
    } while (!update.progress().has_best_cost());
    context.TryCancel();
    while (reader->Read(&update)) {
    }
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_EQ(Cancel(name).state(), v1::Tuning::CANCELLED);
}

TEST_F(TuningServiceTest, CancelledTuningsEndForEverybody) {
  Start();
  const std::string running = TuneWithoutEnd(1);
  const std::string queued = TuneWithoutEnd(2);
  for (const std::string& name : {queued, running}) {
    std::thread watcher([&] {
      const auto [updates, status] = Watch(name);
      HONE_EXPECT_GRPC_OK(status);
      EXPECT_EQ(updates.back().tuning().state(), v1::Tuning::CANCELLED);
    });
    EXPECT_EQ(Cancel(name).state(), v1::Tuning::CANCELLED);
    watcher.join();
    const Operation operation = WaitFor(OperationOf(name));
    EXPECT_EQ(operation.error().code(), grpc::StatusCode::CANCELLED);

    grpc::ClientContext context;
    v1::CancelTuningRequest request;
    request.set_name(name);
    v1::CancelTuningResponse response;
    const grpc::Status again =
        tunings_->CancelTuning(&context, request, &response);
    EXPECT_EQ(again.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(ErrorInfoOf(again).reason(), "TUNING_FINISHED");
  }
  // The slot is free again.
  TuneToEnd(kModule);
}

TEST_F(TuningServiceTest, OperationsCanBeCancelledAndListed) {
  Start();
  const std::string tuning = TuneWithoutEnd(1);
  const std::string name = OperationOf(tuning);
  {
    grpc::ClientContext context;
    google::longrunning::CancelOperationRequest request;
    request.set_name(name);
    google::protobuf::Empty empty;
    HONE_EXPECT_GRPC_OK(
        operations_->CancelOperation(&context, request, &empty));
    grpc::ClientContext again;
    HONE_EXPECT_GRPC_OK(operations_->CancelOperation(&again, request, &empty));
  }
  grpc::ClientContext context;
  google::longrunning::ListOperationsResponse list;
  HONE_EXPECT_GRPC_OK(operations_->ListOperations(&context, {}, &list));
  ASSERT_EQ(list.operations_size(), 1);
  EXPECT_EQ(list.operations(0).name(), name);
  EXPECT_TRUE(list.operations(0).done());

  grpc::ClientContext get_context;
  google::longrunning::GetOperationRequest get;
  get.set_name("projects/default/operations/none");
  Operation operation;
  EXPECT_EQ(
      operations_->GetOperation(&get_context, get, &operation).error_code(),
      grpc::StatusCode::NOT_FOUND);
}

TEST_F(TuningServiceTest, WaitOperationReturnsAtItsTimeout) {
  Start();
  const std::string tuning = TuneWithoutEnd(1);
  grpc::ClientContext context;
  google::longrunning::WaitOperationRequest request;
  request.set_name(OperationOf(tuning));
  request.mutable_timeout()->set_nanos(1'000'000);
  Operation operation;
  HONE_EXPECT_GRPC_OK(
      operations_->WaitOperation(&context, request, &operation));
  EXPECT_FALSE(operation.done());
}

TEST_F(TuningServiceTest, ACancelledWaitEnds) {
  Start();
  const std::string tuning = TuneWithoutEnd(1);
  grpc::ClientContext context;
  std::thread canceller([&] { context.TryCancel(); });
  google::longrunning::WaitOperationRequest request;
  request.set_name(OperationOf(tuning));
  Operation operation;
  EXPECT_EQ(
      operations_->WaitOperation(&context, request, &operation).error_code(),
      grpc::StatusCode::CANCELLED);
  canceller.join();
  EXPECT_TRUE(server_->Drain());
}

TEST_F(TuningServiceTest, AFullQueueIsRefusedWithAdvice) {
  config_.max_queued_tunings = 1;
  Start();
  // One runs, one waits.
  for (int n = 1; n <= 2; ++n) TuneWithoutEnd(n);
  grpc::ClientContext context;
  Operation operation;
  const grpc::Status refused =
      tunings_->Tune(&context, RequestFor(NumberedModule(3)), &operation);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ErrorInfoOf(refused).reason(), "QUEUE_FULL");
  EXPECT_TRUE(HasRetryInfo(refused));
}

TEST_F(TuningServiceTest, ListFiltersByState) {
  Start();
  TuneToEnd(kModule);
  const std::string running = TuneWithoutEnd(1);
  Cancel(running);
  grpc::ClientContext context;
  v1::ListTuningsRequest request;
  request.add_states(v1::Tuning::CANCELLED);
  v1::ListTuningsResponse list;
  HONE_EXPECT_GRPC_OK(tunings_->ListTunings(&context, request, &list));
  ASSERT_EQ(list.tunings_size(), 1);
  EXPECT_EQ(list.tunings(0).name(), running);

  grpc::ClientContext bad_context;
  request.set_page_size(-1);
  EXPECT_EQ(tunings_->ListTunings(&bad_context, request, &list).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(TuningServiceTest, UnknownTuningsAreNotFound) {
  Start();
  v1::GetTuningRequest request;
  v1::Tuning tuning;
  request.set_name("projects/default/tunings/none");
  {
    grpc::ClientContext context;
    EXPECT_EQ(tunings_->GetTuning(&context, request, &tuning).error_code(),
              grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_EQ(Watch("projects/default/tunings/none").second.error_code(),
            grpc::StatusCode::NOT_FOUND);
  request.set_name("results/1");
  grpc::ClientContext context;
  EXPECT_EQ(tunings_->GetTuning(&context, request, &tuning).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace hone::testing

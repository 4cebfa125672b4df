#include "daemon/fleet/fleet.h"

#include <deque>
#include <future>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::FakeClock;
using ::testing::HasSubstr;
using Response = v1::SynchronizeResponse;

constexpr absl::Duration kLease = absl::Seconds(10);

v1::Work WorkNamed(const std::string& name) {
  v1::Work work;
  work.mutable_kernel()->set_module(name);
  return work;
}

v1::SynchronizeRequest From(const std::string& worker) {
  v1::SynchronizeRequest request;
  request.set_worker_id(worker);
  request.set_version("1");
  request.mutable_device()->set_kind("cpu");
  request.mutable_device()->set_fingerprint("f");
  request.mutable_device()->set_threads(2);
  request.mutable_device()->mutable_machine()->set_l1_bytes(1 << 15);
  request.mutable_device()->mutable_machine()->set_l2_bytes(1 << 19);
  request.mutable_device()->mutable_machine()->set_cache_line_bytes(64);
  request.mutable_device()->mutable_machine()->set_vector_bytes(32);
  request.mutable_device()->mutable_machine()->set_vector_registers(16);
  request.mutable_idle();
  return request;
}

v1::SynchronizeRequest Executing(const std::string& worker,
                                 const v1::Lease& lease) {
  v1::SynchronizeRequest request = From(worker);
  *request.mutable_executing()->mutable_lease() = lease;
  return request;
}

// An idle call that also brings a result, which says who made it.
v1::SynchronizeRequest Done(const std::string& worker, const v1::Lease& lease) {
  v1::SynchronizeRequest request = From(worker);
  v1::Completion& completion = *request.add_completions();
  *completion.mutable_lease() = lease;
  completion.mutable_kernel()->mutable_baseline()->set_message(worker);
  return request;
}

class FleetTest : public ::testing::Test {
 protected:
  using Result = absl::StatusOr<v1::Completion>;

  // Starts Run in a thread, and returns once its work is in the queue.
  std::future<Result> Submit(const std::string& name,
                             const std::string& device = "") {
    absl::Notification queued;
    const auto handle = fleet_.WaitForWork([&] { queued.Notify(); });
    auto result = std::async(std::launch::async, [=, this] {
      return fleet_.Run(WorkNamed(name), device, [] { return false; });
    });
    queued.WaitForNotification();
    return result;
  }

  Response Call(const v1::SynchronizeRequest& request) {
    absl::StatusOr<Response> response = fleet_.Synchronize(request);
    HONE_EXPECT_OK(response.status());
    return response.ok() ? *response : Response();
  }

  FakeClock clock_;
  Metrics metrics_;
  Fleet fleet_{clock_, metrics_, {.version = "1", .lease = kLease}};
};

TEST_F(FleetTest, WorkGoesToAWorkerAndItsResultBack) {
  auto result = Submit("w");
  const Response response = Call(From("a"));
  ASSERT_TRUE(response.has_execute());
  EXPECT_EQ(response.execute().work().kernel().module(), "w");
  EXPECT_EQ(response.lease_duration().seconds(), 10);
  const Response receipt = Call(Done("a", response.execute().lease()));
  ASSERT_EQ(receipt.receipts_size(), 1);
  EXPECT_TRUE(receipt.receipts(0).accepted());
  EXPECT_TRUE(receipt.has_idle());
  HONE_ASSERT_OK_AND_ASSIGN(const v1::Completion completion, result.get());
  EXPECT_EQ(completion.kernel().baseline().message(), "a");
}

TEST_F(FleetTest, ARepeatedCallGetsTheSameAnswer) {
  auto result = Submit("w");
  const Response first = Call(From("a"));
  const Response again = Call(From("a"));
  EXPECT_EQ(first.execute().lease().fence(), again.execute().lease().fence());
  EXPECT_EQ(again.execute().work().kernel().module(), "w");
  EXPECT_TRUE(Call(Done("a", first.execute().lease())).receipts(0).accepted());
  EXPECT_TRUE(Call(Done("a", first.execute().lease())).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, ASilentWorkerLosesItsLeaseAndItsLateResultIsRefused) {
  auto result = Submit("w");
  const v1::Lease lost = Call(From("a")).execute().lease();
  clock_.Advance(kLease + absl::Milliseconds(1));
  const v1::Lease taken = Call(From("b")).execute().lease();
  EXPECT_EQ(lost.work_id(), taken.work_id());
  EXPECT_GT(taken.fence(), lost.fence());
  const Response late = Call(Done("a", lost));
  EXPECT_FALSE(late.receipts(0).accepted());
  EXPECT_TRUE(late.has_idle());
  EXPECT_TRUE(Call(Executing("a", lost)).has_idle());
  EXPECT_TRUE(Call(Done("b", taken)).receipts(0).accepted());
  EXPECT_EQ(result.get()->kernel().baseline().message(), "b");
  EXPECT_EQ(metrics_.leases_expired.Value(), 1);
  EXPECT_EQ(metrics_.fenced_results.Value(), 1);
}

TEST_F(FleetTest, CallsRenewALease) {
  auto result = Submit("w");
  const v1::Lease lease = Call(From("a")).execute().lease();
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(kLease - absl::Milliseconds(1));
    EXPECT_TRUE(Call(Executing("a", lease)).has_execute());
    EXPECT_TRUE(Call(From("b")).has_idle());
  }
  EXPECT_TRUE(Call(Done("a", lease)).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, ALeavingWorkerGivesItsWorkBackAtOnce) {
  auto result = Submit("w");
  Call(From("a"));
  v1::SynchronizeRequest leaving = From("a");
  leaving.mutable_leaving();
  EXPECT_TRUE(Call(leaving).has_idle());
  const v1::Lease lease = Call(From("b")).execute().lease();
  EXPECT_TRUE(Call(Done("b", lease)).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
  ASSERT_EQ(fleet_.Workers().size(), 1u);
  EXPECT_EQ(fleet_.Workers()[0].id(), "b");
}

TEST_F(FleetTest, WorkThatKeepsBeingLostIsGivenUp) {
  auto result = Submit("w");
  for (const char* worker : {"a", "b", "c"}) {
    EXPECT_TRUE(Call(From(worker)).has_execute());
    clock_.Advance(kLease + absl::Milliseconds(1));
    fleet_.Expire();
  }
  EXPECT_TRUE(Call(From("d")).has_idle());
  const Result failed = result.get();
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(failed.status().message(), HasSubstr("lost with 3 workers"));
}

TEST_F(FleetTest, WorkForADeviceWaitsForIt) {
  auto result = Submit("w", "g");
  EXPECT_TRUE(Call(From("a")).has_idle());
  v1::SynchronizeRequest other = From("b");
  other.mutable_device()->set_fingerprint("g");
  const Response response = Call(other);
  ASSERT_TRUE(response.has_execute());
  Call(Done("b", response.execute().lease()));
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, TheWorkersErrorIsTheCallers) {
  auto result = Submit("w");
  v1::SynchronizeRequest done = From("a");
  v1::Completion& completion = *done.add_completions();
  *completion.mutable_lease() = Call(From("a")).execute().lease();
  completion.mutable_error()->set_code(3);
  completion.mutable_error()->set_message("3:1: no such thing");
  Call(done);
  const Result failed = result.get();
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(failed.status().message(), "3:1: no such thing");
}

// A worker may be wrong, or lie: its result is an error, not the daemon's end.
TEST_F(FleetTest, AResultThatSaysNothingIsAnError) {
  for (const int code : {-1, 0, 17, 1000}) {
    auto result = Submit("w");
    v1::SynchronizeRequest done = From("a");
    v1::Completion& completion = *done.add_completions();
    *completion.mutable_lease() = Call(From("a")).execute().lease();
    if (code >= 0) completion.mutable_error()->set_code(code);
    Call(done);
    EXPECT_EQ(result.get().status().code(), absl::StatusCode::kInternal);
  }
}

TEST_F(FleetTest, ACallerThatStopsTakesItsWorkBack) {
  const Result stopped = fleet_.Run(WorkNamed("w"), "", [] { return true; });
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Call(From("a")).has_idle());
}

TEST_F(FleetTest, DrainingEndsWaitsAndRefusesWorkers) {
  auto result = Submit("w");
  fleet_.Drain();
  EXPECT_EQ(result.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fleet_.Synchronize(From("a")).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(FleetTest, WorkThatNobodyCanDoIsGivenBack) {
  auto result = Submit("w", "g");
  Call(From("a"));
  clock_.Advance(absl::Seconds(21));
  EXPECT_EQ(result.get().status().code(), absl::StatusCode::kUnavailable);
  // Nobody gets it later.
  v1::SynchronizeRequest other = From("b");
  other.mutable_device()->set_fingerprint("g");
  EXPECT_TRUE(Call(other).has_idle());
}

TEST_F(FleetTest, ADeviceIsAwaited) {
  auto device = std::async(std::launch::async, [this] {
    return fleet_.AwaitDevice("f", /*stop=*/nullptr);
  });
  Call(From("a"));
  HONE_ASSERT_OK_AND_ASSIGN(const v1::Device found, device.get());
  EXPECT_EQ(found.fingerprint(), "f");
  EXPECT_EQ(fleet_.AwaitDevice("g", [] { return true; }).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(FleetTest, ABadRequestIsRefused) {
  v1::SynchronizeRequest request = From("a");
  request.set_version("2");
  const absl::Status version = fleet_.Synchronize(request).status();
  EXPECT_EQ(version.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(version.message(), HasSubstr("\"2\", expected \"1\""));
  for (const auto& spoil : std::vector<void (*)(v1::SynchronizeRequest&)>{
           [](auto& r) { r.clear_worker_id(); },
           [](auto& r) { r.clear_device(); },
           [](auto& r) { r.mutable_device()->clear_machine(); },
           [](auto& r) { r.clear_state(); }}) {
    request = From("a");
    spoil(request);
    EXPECT_EQ(fleet_.Synchronize(request).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(fleet_.Workers().empty());
}

// Workers that crash, pause, repeat calls and report late, in random order: all
// work is done once, by whoever had the lease when it reported.
TEST_F(FleetTest, NothingIsLostOrTakenTwiceWhateverWorkersDo) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Fleet fleet(clock_, metrics_,
                {.version = "1",
                 .lease = kLease,
                 .device_wait = absl::InfiniteDuration(),
                 .max_attempts = 1000});
    Rng rng(seed);
    std::map<std::string, std::future<Result>> results;
    for (int i = 0; i < 8; ++i) {
      const std::string name = absl::StrCat("w", i);
      results[name] = std::async(std::launch::async, [&fleet, name] {
        return fleet.Run(WorkNamed(name), "", [] { return false; });
      });
    }
    // The lease that each worker believes to hold; several may believe the
    // same.
    std::map<std::string, std::pair<v1::Lease, std::string>> held;
    std::map<std::string, std::string> accepted;
    int serial = 0;
    std::deque<std::string> workers = {"a0", "b0", "c0"};
    while (accepted.size() < results.size()) {
      const std::string worker = workers[rng.Below(workers.size())];
      switch (rng.Below(5)) {
        case 0:  // Crashes; another one starts.
          workers.push_back(absl::StrCat("n", ++serial));
          if (workers.size() > 4) workers.pop_front();
          break;
        case 1:
          clock_.Advance(kLease * 0.4);
          break;
        case 2:
          if (const auto it = held.find(worker); it != held.end()) {
            const auto& [lease, name] = it->second;
            HONE_ASSERT_OK_AND_ASSIGN(const Response r,
                                      fleet.Synchronize(Done(worker, lease)));
            if (r.receipts(0).accepted()) {
              EXPECT_TRUE(accepted.emplace(name, worker).second);
            }
            held.erase(it);
            if (r.has_execute()) {
              held[worker] = {r.execute().lease(),
                              r.execute().work().kernel().module()};
            }
          }
          break;
        default:
          if (const auto it = held.find(worker); it != held.end()) {
            HONE_ASSERT_OK_AND_ASSIGN(
                const Response r,
                fleet.Synchronize(Executing(worker, it->second.first)));
            if (!r.has_execute()) held.erase(it);
          } else {
            HONE_ASSERT_OK_AND_ASSIGN(const Response r,
                                      fleet.Synchronize(From(worker)));
            if (r.has_execute()) {
              held[worker] = {r.execute().lease(),
                              r.execute().work().kernel().module()};
            }
          }
      }
    }
    for (auto& [name, result] : results) {
      HONE_ASSERT_OK_AND_ASSIGN(const v1::Completion completion, result.get());
      EXPECT_EQ(completion.kernel().baseline().message(), accepted[name]);
    }
  }
}

}  // namespace
}  // namespace hone::daemon

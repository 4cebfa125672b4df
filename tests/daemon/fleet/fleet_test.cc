#include "daemon/fleet/fleet.h"

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "tests/daemon/fleet/requests.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::Done;
using ::hone::testing::Executing;
using ::hone::testing::FakeClock;
using ::hone::testing::From;
using ::hone::testing::RequestFor;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Response = v1::SynchronizeResponse;

constexpr absl::Duration kLease = absl::Seconds(10);

class FleetTest : public ::testing::Test {
 protected:
  // What came of a piece of work.
  struct Submitted {
    std::unique_ptr<Fleet::Ticket> ticket;
    absl::StatusOr<v1::Completion> get() const {
      auto result = ticket->Take();
      if (!result.has_value()) return absl::UnknownError("it has not ended");
      if (!result->ok()) return result->status();
      return (*result)->completion;
    }
  };

  Submitted Submit(const std::string& name, const std::string& device = "") {
    return Submit(RequestFor(name, device));
  }
  Submitted Submit(Fleet::Request request) {
    auto ticket = fleet_.Submit(std::move(request));
    HONE_EXPECT_OK(ticket.status());
    return {*std::move(ticket)};
  }
  // Runs work in a thread; returns once it is in the queue.
  std::future<absl::StatusOr<Fleet::Result>> RunInThread(
      Fleet::Request request) {
    const double depth = metrics_.work_queue_depth.Value();
    auto result = std::async(std::launch::async, [this, request] {
      return fleet_.Run(request, [] { return false; });
    });
    while (metrics_.work_queue_depth.Value() == depth) {
      std::this_thread::yield();
    }
    return result;
  }

  Response Call(const v1::SynchronizeRequest& request) {
    absl::StatusOr<Response> response = fleet_.Synchronize(request);
    HONE_EXPECT_OK(response.status());
    return response.ok() ? *response : Response();
  }

  FakeClock clock_;
  Metrics metrics_;
  Fleet fleet_{clock_, metrics_, {.lease = kLease}};
};

TEST_F(FleetTest, WorkGoesToAWorkerAndItsResultBack) {
  auto result = Submit("w");
  const Response response = Call(From("a"));
  ASSERT_EQ(response.execute_size(), 1);
  EXPECT_EQ(response.execute(0).work().kernel().module(), "w");
  EXPECT_EQ(response.lease_duration().seconds(), 10);
  const Response receipt = Call(Done("a", response.execute(0).lease()));
  ASSERT_EQ(receipt.receipts_size(), 1);
  EXPECT_TRUE(receipt.receipts(0).accepted());
  EXPECT_EQ(receipt.execute_size(), 0);
  HONE_ASSERT_OK_AND_ASSIGN(const v1::Completion completion, result.get());
  EXPECT_EQ(completion.kernel().baseline().message(), "a");
}

TEST_F(FleetTest, ARepeatedCallGetsTheSameAnswer) {
  auto result = Submit("w");
  const Response first = Call(From("a"));
  const Response again = Call(From("a"));
  EXPECT_EQ(first.execute(0).lease().fence(), again.execute(0).lease().fence());
  EXPECT_EQ(again.execute(0).work().kernel().module(), "w");
  EXPECT_TRUE(Call(Done("a", first.execute(0).lease())).receipts(0).accepted());
  EXPECT_TRUE(Call(Done("a", first.execute(0).lease())).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, ASilentWorkerLosesItsLeaseAndItsLateResultIsRefused) {
  auto result = Submit("w");
  const v1::Lease lost = Call(From("a")).execute(0).lease();
  clock_.Advance(kLease + absl::Milliseconds(1));
  const v1::Lease taken = Call(From("b")).execute(0).lease();
  EXPECT_EQ(lost.work_id(), taken.work_id());
  EXPECT_GT(taken.fence(), lost.fence());
  const Response late = Call(Done("a", lost));
  EXPECT_FALSE(late.receipts(0).accepted());
  EXPECT_EQ(late.execute_size(), 0);
  EXPECT_EQ(Call(Executing("a", lost)).execute_size(), 0);
  EXPECT_TRUE(Call(Done("b", taken)).receipts(0).accepted());
  EXPECT_EQ(result.get()->kernel().baseline().message(), "b");
  EXPECT_EQ(metrics_.leases_expired.Value(), 1);
  EXPECT_EQ(metrics_.fenced_results.Value(), 1);
}

TEST_F(FleetTest, CallsRenewALease) {
  auto result = Submit("w");
  const v1::Lease lease = Call(From("a")).execute(0).lease();
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(kLease - absl::Milliseconds(1));
    EXPECT_EQ(Call(Executing("a", lease)).execute_size(), 1);
    EXPECT_EQ(Call(From("b")).execute_size(), 0);
  }
  EXPECT_TRUE(Call(Done("a", lease)).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, ALeavingWorkerGivesItsWorkBackAtOnce) {
  auto result = Submit("w");
  Call(From("a"));
  v1::SynchronizeRequest leaving = From("a");
  leaving.set_state(v1::SynchronizeRequest::LEAVING);
  EXPECT_EQ(Call(leaving).execute_size(), 0);
  const v1::Lease lease = Call(From("b")).execute(0).lease();
  EXPECT_TRUE(Call(Done("b", lease)).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
  ASSERT_EQ(fleet_.Workers().size(), 1u);
  EXPECT_EQ(fleet_.Workers()[0].id(), "b");
}

TEST_F(FleetTest, WorkThatKeepsBeingLostIsGivenUp) {
  auto result = Submit("w");
  for (const char* worker : {"a", "b", "c"}) {
    EXPECT_EQ(Call(From(worker)).execute_size(), 1);
    clock_.Advance(kLease + absl::Milliseconds(1));
    fleet_.Expire();
  }
  EXPECT_EQ(Call(From("d")).execute_size(), 0);
  const auto failed = result.get();
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(failed.status().message(), HasSubstr("lost with 3 workers"));
}

TEST_F(FleetTest, WorkForADeviceWaitsForIt) {
  auto result = Submit("w", "g");
  EXPECT_EQ(Call(From("a")).execute_size(), 0);
  v1::SynchronizeRequest other = From("b");
  other.mutable_devices(0)->set_fingerprint("g");
  const Response response = Call(other);
  ASSERT_EQ(response.execute_size(), 1);
  other = Done("b", response.execute(0).lease());
  other.mutable_devices(0)->set_fingerprint("g");
  Call(other);
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, TheWorkersErrorIsTheCallers) {
  auto result = Submit("w");
  v1::SynchronizeRequest done = From("a");
  v1::Completion& completion = *done.add_completions();
  *completion.mutable_lease() = Call(From("a")).execute(0).lease();
  completion.mutable_error()->set_code(3);
  completion.mutable_error()->set_message("3:1: no such thing");
  Call(done);
  const auto failed = result.get();
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(failed.status().message(), "3:1: no such thing");
}

// A worker may be wrong, or lie: its result is an error, not the daemon's end.
TEST_F(FleetTest, AResultThatSaysNothingIsAnError) {
  for (const int code : {-1, 0, 17, 1000}) {
    Fleet fleet(clock_, metrics_, {.lease = kLease});
    HONE_ASSERT_OK_AND_ASSIGN(const auto ticket, fleet.Submit(RequestFor("w")));
    // It is given out three times.
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(ticket->Take().has_value());
      v1::SynchronizeRequest done = From("a");
      v1::Completion& completion = *done.add_completions();
      *completion.mutable_lease() =
          fleet.Synchronize(From("a"))->execute(0).lease();
      if (code >= 0) completion.mutable_error()->set_code(code);
      HONE_EXPECT_OK(fleet.Synchronize(done).status());
    }
    EXPECT_EQ(ticket->Take()->status().code(), absl::StatusCode::kInternal);
  }
}

TEST_F(FleetTest, ACallerThatStopsTakesItsWorkBack) {
  const auto stopped = fleet_.Run(RequestFor("w"), [] { return true; });
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Call(From("a")).execute_size(), 0);
}

TEST_F(FleetTest, DrainingEndsWaitsAndRefusesWorkers) {
  auto result = RunInThread(RequestFor("w"));
  fleet_.Drain();
  EXPECT_EQ(result.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fleet_.Synchronize(From("a")).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(FleetTest, WorkThatNobodyCanDoIsGivenBack) {
  auto result = RunInThread(RequestFor("w", "g"));
  Call(From("a"));
  clock_.Advance(absl::Seconds(21));
  EXPECT_EQ(result.get().status().code(), absl::StatusCode::kUnavailable);
  // Nobody gets it later.
  v1::SynchronizeRequest other = From("b");
  other.mutable_devices(0)->set_fingerprint("g");
  EXPECT_EQ(Call(other).execute_size(), 0);
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
  request.set_protocol_version(0);
  EXPECT_EQ(fleet_.Synchronize(request).status().code(),
            absl::StatusCode::kFailedPrecondition);
  for (const auto& spoil : std::vector<void (*)(v1::SynchronizeRequest&)>{
           [](auto& r) { r.clear_worker_id(); },
           [](auto& r) { r.clear_devices(); },
           [](auto& r) { r.mutable_devices(0)->clear_machine(); },
           [](auto& r) { r.clear_state(); }}) {
    request = From("a");
    spoil(request);
    EXPECT_EQ(fleet_.Synchronize(request).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(fleet_.Workers().empty());
}

// A worker may wait for work, and each piece of work wakes one that fits it.
TEST_F(FleetTest, OneWaitingWorkerIsWokenForEachPieceOfWork) {
  v1::SynchronizeRequest other = From("other");
  other.mutable_devices(0)->set_fingerprint("g");
  Call(other);
  Call(From("a"));
  Call(From("b"));
  int woken[3] = {};
  auto first = fleet_.WaitForWork("other", [&] { ++woken[0]; });
  auto second = fleet_.WaitForWork("a", [&] { ++woken[1]; });
  auto third = fleet_.WaitForWork("b", [&] { ++woken[2]; });
  const auto one = Submit("w", "f");
  EXPECT_THAT(woken, ElementsAre(0, 1, 0));
  // The one that was woken goes away without the work: another is woken.
  second.reset();
  EXPECT_THAT(woken, ElementsAre(0, 1, 1));
  third.reset();
  EXPECT_EQ(Call(From("b")).execute_size(), 1);
  const auto two = Submit("w2", "g");
  EXPECT_THAT(woken, ElementsAre(1, 1, 1));
  // There is work for it already.
  int at_once = 0;
  const auto late = fleet_.WaitForWork("other", [&] { ++at_once; });
  EXPECT_EQ(at_once, 1);
}

TEST_F(FleetTest, CancelledIdleCallsLeaveNothingBehind) {
  for (int i = 0; i < 100; ++i) Call(From(absl::StrCat("w", i)));
  std::vector<std::shared_ptr<void>> open;
  for (int i = 0; i < 100'000; ++i) {
    const auto cancelled =
        fleet_.WaitForWork(absl::StrCat("w", i % 100), [] {});
    ASSERT_LE(metrics_.workers_waiting.Value(), 1);
  }
  EXPECT_EQ(metrics_.workers_waiting.Value(), 0);
  // Nor can one worker have many at the same time.
  for (int i = 0; i < 1000; ++i) {
    open.push_back(fleet_.WaitForWork("w0", [] {}));
  }
  EXPECT_EQ(metrics_.workers_waiting.Value(), 1);
}

TEST_F(FleetTest, WorkThatIsNeverStartedIsGivenUp) {
  const auto result = Submit("w");
  const v1::Lease lease = Call(From("a")).execute(0).lease();
  // It keeps saying that it is idle, as if no response ever came.
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(kLease * 0.45);
    EXPECT_EQ(Call(From("a")).execute(0).lease().fence(), lease.fence());
  }
  clock_.Advance(kLease * 0.45);
  Call(From("b"));
  EXPECT_EQ(metrics_.LeasesGivenUp("not_started").Value(), 1);
  EXPECT_FALSE(Call(Done("a", lease)).receipts(0).accepted());
}

TEST_F(FleetTest, WorkThatMakesNoProgressIsGivenUp) {
  Fleet::Request request = RequestFor("w");
  request.limit = absl::Seconds(30);
  const auto result = Submit(request);
  const v1::Lease lease = Call(From("a")).execute(0).lease();
  for (int i = 0; i < 6; ++i) {
    clock_.Advance(absl::Seconds(5));
    EXPECT_EQ(Call(Executing("a", lease)).execute_size(), 1);
    Call(From("b"));
  }
  clock_.Advance(absl::Seconds(1));
  const v1::Lease taken = Call(From("b")).execute(0).lease();
  EXPECT_EQ(taken.work_id(), lease.work_id());
  EXPECT_EQ(Call(Executing("a", lease)).execute_size(), 0);
  EXPECT_EQ(metrics_.LeasesGivenUp("no_progress").Value(), 1);
  EXPECT_TRUE(Call(Done("b", taken)).receipts(0).accepted());
  HONE_EXPECT_OK(result.get().status());
}

TEST_F(FleetTest, AnotherWorkersLeaseIsNoLease) {
  const auto result = Submit("w");
  const v1::Lease lease = Call(From("a")).execute(0).lease();
  EXPECT_FALSE(Call(Done("thief", lease)).receipts(0).accepted());
  v1::Lease guessed = lease;
  guessed.set_fence(lease.fence() + 1);
  EXPECT_FALSE(Call(Done("a", guessed)).receipts(0).accepted());
  EXPECT_TRUE(Call(Done("a", lease)).receipts(0).accepted());
  EXPECT_EQ(result.get()->kernel().baseline().message(), "a");
}

// An error of the work ends it if two machines say so, or if there is only one.
TEST_F(FleetTest, AnErrorOfTheWorkIsAskedOfASecondMachine) {
  const auto fail = [](const std::string& worker, const v1::Lease& lease) {
    v1::SynchronizeRequest request = From(worker);
    v1::Completion& completion = *request.add_completions();
    *completion.mutable_lease() = lease;
    completion.mutable_error()->set_code(3);
    return request;
  };
  Call(From("a"));
  Call(From("b"));
  const auto good = Submit("w");
  EXPECT_EQ(Call(fail("a", Call(From("a")).execute(0).lease())).execute_size(),
            0);
  EXPECT_TRUE(Call(Done("b", Call(From("b")).execute(0).lease()))
                  .receipts(0)
                  .accepted());
  HONE_EXPECT_OK(good.get().status());
  EXPECT_EQ(metrics_.WorkerFaults("failure").Value(), 1);
  const auto bad = Submit("w");
  Call(fail("a", Call(From("a")).execute(0).lease()));
  Call(fail("b", Call(From("b")).execute(0).lease()));
  EXPECT_EQ(bad.get().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FleetTest, ADeviceIsWaitedForOnce) {
  int woken = 0;
  const auto by_kind = fleet_.WaitForDevice("cpu", [&] { ++woken; });
  auto ended = fleet_.WaitForDevice("f", [&] { woken += 100; });
  const auto other = fleet_.WaitForDevice("g", [&] { woken += 10; });
  ended.reset();
  EXPECT_EQ(woken, 0);
  Call(From("a"));
  Call(From("b"));
  EXPECT_EQ(woken, 1);
  const auto there = fleet_.WaitForDevice("f", [&] { ++woken; });
  EXPECT_EQ(woken, 2);
}

TEST_F(FleetTest, OneMachineCannotChangeADevice) {
  const auto describe = [](const std::string& worker, int64_t l1_bytes) {
    v1::SynchronizeRequest request = From(worker);
    request.set_machine(worker);
    request.mutable_devices(0)->mutable_machine()->set_l1_bytes(l1_bytes);
    return request;
  };
  Call(describe("liar", 1));
  Call(describe("a", 1 << 15));
  Call(describe("b", 1 << 15));
  HONE_ASSERT_OK_AND_ASSIGN(const v1::Device device, fleet_.GetDevice("f"));
  EXPECT_EQ(device.machine().l1_bytes(), 1 << 15);
}

TEST_F(FleetTest, ALargeModuleIsReadInParts) {
  std::string module(5'000'000, 'x');
  module += "end";
  const auto result = Submit(module);
  const v1::Work work = Call(From("a")).execute(0).work();
  EXPECT_LT(work.ByteSizeLong(), 4096u);
  EXPECT_EQ(work.kernel().module_bytes(), 5'000'003);
  const std::string& digest = work.kernel().module_digest();
  std::string read;
  while (static_cast<int64_t>(read.size()) < work.kernel().module_bytes()) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const std::string part,
        fleet_.ReadModule(digest, static_cast<int64_t>(read.size())));
    EXPECT_LE(part.size(), size_t{1} << 20);
    read += part;
  }
  EXPECT_EQ(Sha256Hex(read), digest);
  EXPECT_THAT(
      fleet_.ReadModule(digest, 5'000'004),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("offset")));
  EXPECT_THAT(fleet_.ReadModule("0", 0),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no module")));
}

TEST_F(FleetTest, AModuleIsForgottenWithItsLastWork) {
  const std::string module(100'000, 'x');
  auto first = Submit(module);
  auto second = Submit(module);
  const std::string digest =
      Call(From("a")).execute(0).work().kernel().module_digest();
  first.ticket.reset();
  HONE_EXPECT_OK(fleet_.ReadModule(digest, 0).status());
  second.ticket.reset();
  EXPECT_FALSE(fleet_.ReadModule(digest, 0).ok());
}

TEST_F(FleetTest, WorkThatNoMessageCanHoldIsRefused) {
  Fleet::Request request = RequestFor("w");
  request.work.mutable_kernel()->set_baseline_script(std::string(4 << 20, ' '));
  EXPECT_THAT(fleet_.Submit(request),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("expected at most")));
}

}  // namespace
}  // namespace hone::daemon

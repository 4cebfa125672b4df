// Workers that fail, lie and are noisy, and the fleet.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "daemon/fleet/fleet.h"
#include "tests/daemon/fleet/requests.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::Done;
using ::hone::testing::FakeClock;
using ::hone::testing::From;
using ::hone::testing::RequestFor;
using ::hone::testing::StatusIs;
using ::hone::testing::WorkNamed;
using ::testing::HasSubstr;
using Response = v1::SynchronizeResponse;

constexpr absl::Duration kLease = absl::Seconds(10);

// In this file a report is good unless it comes from a worker whose name begins
// with "liar"; canaries are work named "canary".
Fleet::Options Options() {
  Fleet::Options options;
  options.lease = kLease;
  options.canary.make = [](uint64_t) { return WorkNamed("canary"); };
  options.canary.judge = [](const v1::Completion& completion) {
    if (completion.has_error()) {
      return Fleet::CanaryResult{CanaryVerdict::kFailed,
                                 completion.error().message()};
    }
    const std::string& by = completion.kernel().baseline().message();
    if (by.rfind("noisy", 0) == 0) {
      return Fleet::CanaryResult{CanaryVerdict::kNoisy, "A/A is 1.5"};
    }
    if (by.rfind("liar", 0) == 0) {
      return Fleet::CanaryResult{CanaryVerdict::kWrong, "it lies"};
    }
    return Fleet::CanaryResult{};
  };
  options.standings.canary_works = 3;
  return options;
}

class QuarantineTest : public ::testing::Test {
 protected:
  std::unique_ptr<Fleet::Ticket> Submit(bool checked = false) {
    Fleet::Request request = RequestFor("w");
    if (checked) {
      request.check = [](const v1::Completion& completion) {
        return completion.kernel().baseline().message().rfind("liar", 0) == 0
                   ? absl::InternalError("negative times")
                   : absl::OkStatus();
      };
    }
    return fleet_.Submit(request).value();
  }
  Response Call(const v1::SynchronizeRequest& request) {
    absl::StatusOr<Response> response = fleet_.Synchronize(request);
    HONE_EXPECT_OK(response.status());
    return response.ok() ? *response : Response();
  }
  static bool IsCanary(const Response& response) {
    return !response.execute().empty() &&
           response.execute(0).work().kernel().module() == "canary";
  }
  v1::Worker Listed(const std::string& id) const {
    for (v1::Worker& worker : fleet_.Workers()) {
      if (worker.id() == id) return worker;
    }
    ADD_FAILURE() << "no worker " << id;
    return {};
  }
  // The worker does its canary.
  void PassCanary(const std::string& worker) {
    const Response response = Call(From(worker));
    ASSERT_TRUE(IsCanary(response));
    EXPECT_TRUE(
        Call(Done(worker, response.execute(0).lease())).receipts(0).accepted());
  }

  FakeClock clock_;
  Metrics metrics_;
  Fleet fleet_{clock_, metrics_, Options()};
};

TEST_F(QuarantineTest, BadReportsGoToAnotherWorkerAndTheirAuthorToQuarantine) {
  Call(From("liar"));
  for (int i = 0; i < 2; ++i) {
    const auto ticket = Submit(/*checked=*/true);
    const v1::Lease bad = Call(From("liar")).execute(0).lease();
    Call(From("good"));
    EXPECT_FALSE(Call(Done("liar", bad)).receipts(0).accepted());
    const Response response = Call(From("good"));
    ASSERT_EQ(response.execute_size(), 1);
    Call(Done("good", response.execute(0).lease()));
    const auto result = ticket->Take();
    ASSERT_TRUE(result.has_value());
    HONE_ASSERT_OK(result->status());
    EXPECT_EQ((*result)->worker, "good");
  }
  const v1::Worker listed = Listed("liar");
  EXPECT_EQ(listed.quarantine().reason(),
            v1::Worker::Quarantine::MALFORMED_REPORT);
  EXPECT_EQ(listed.quarantine().detail(), "negative times");
  EXPECT_GT(listed.quarantine().end_time().seconds(),
            absl::ToUnixSeconds(clock_.Now()));
  EXPECT_EQ(metrics_.workers_quarantined.Value(), 1);
  EXPECT_EQ(metrics_.WorkerFaults("malformed_report").Value(), 2);
  const auto ticket = Submit();
  EXPECT_EQ(Call(From("liar")).execute_size(), 0);
  EXPECT_EQ(Call(From("good")).execute_size(), 1);
}

TEST_F(QuarantineTest, SixLostLeasesEndInQuarantine) {
  for (int i = 0; i < 6; ++i) {
    const auto ticket = Submit();
    EXPECT_EQ(Call(From("bad")).execute_size(), 1) << i;
    clock_.Advance(kLease + absl::Seconds(1));
    fleet_.Expire();
    const std::string good = absl::StrCat("good", i);
    HONE_ASSERT_OK_AND_ASSIGN(const Response response,
                              fleet_.Synchronize(From(good), {"elsewhere"}));
    HONE_ASSERT_OK(
        fleet_
            .Synchronize(Done(good, response.execute(0).lease()), {"elsewhere"})
            .status());
    HONE_EXPECT_OK(ticket->Take()->status());
  }
  Call(From("bad"));
  EXPECT_EQ(Listed("bad").quarantine().reason(),
            v1::Worker::Quarantine::LOST_LEASE);
}

// Work that kills every worker must not take the fleet with it.
TEST_F(QuarantineTest, WorkThatEveryMachineLosesIsToBlame) {
  for (int i = 0; i < 10; ++i) {
    const auto ticket = Submit();
    for (const char* worker : {"a", "b", "c"}) {
      EXPECT_EQ(Call(From(worker)).execute_size(), 1);
      clock_.Advance(kLease + absl::Seconds(1));
      fleet_.Expire();
    }
    EXPECT_THAT(ticket->Take()->status(),
                StatusIs(absl::StatusCode::kInternal,
                         HasSubstr("lost with 3 workers")));
  }
  for (const char* worker : {"a", "b", "c"}) Call(From(worker));
  EXPECT_EQ(metrics_.workers_quarantined.Value(), 0);
  EXPECT_EQ(metrics_.WorkerFaults("lost_lease").Value(), 30);
}

v1::SynchronizeRequest Failed(const std::string& worker,
                              const v1::Lease& lease) {
  v1::SynchronizeRequest request = From(worker);
  v1::Completion& completion = *request.add_completions();
  *completion.mutable_lease() = lease;
  completion.mutable_error()->set_code(13);
  completion.mutable_error()->set_message("the measuring process hangs");
  return request;
}

// Nobody can stop an honest worker by work that cannot be done.
TEST_F(QuarantineTest, WorkAtWhichEveryMachineFailsIsToBlame) {
  for (int i = 0; i < 10; ++i) {
    const auto ticket = Submit();
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Response response = Call(From("good"));
      ASSERT_EQ(response.execute_size(), 1);
      ASSERT_FALSE(IsCanary(response));
      Call(Failed("good", response.execute(0).lease()));
      // It shows that it can do work.
      PassCanary("good");
    }
    EXPECT_THAT(ticket->Take()->status(),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("hangs")));
  }
  EXPECT_EQ(metrics_.workers_quarantined.Value(), 0);
  EXPECT_EQ(metrics_.WorkerFaults("failure").Value(), 0);
}

// It spoils one piece of work, and does not see the next.
TEST_F(QuarantineTest, AMachineThatCanDoNoWorkFailsItsCanaries) {
  const auto ticket = Submit();
  Call(Failed("broken", Call(From("broken")).execute(0).lease()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Listed("broken").has_quarantine());
    const Response response = Call(From("broken"));
    ASSERT_TRUE(IsCanary(response));
    Call(Failed("broken", response.execute(0).lease()));
  }
  EXPECT_EQ(Listed("broken").quarantine().reason(),
            v1::Worker::Quarantine::FAILURE);
  EXPECT_EQ(Listed("broken").quarantine().detail(),
            "the measuring process hangs");
}

// On none of its devices.
TEST_F(QuarantineTest, AMachineGetsNoWorkDuringItsCanary) {
  const auto with_two = [](v1::SynchronizeRequest request) {
    *request.add_devices() = request.devices(0);
    return request;
  };
  const auto first = Submit();
  Response response = Call(with_two(From("a")));
  ASSERT_EQ(response.execute_size(), 1);
  response = Call(with_two(Failed("a", response.execute(0).lease())));
  ASSERT_EQ(response.execute_size(), 1);
  ASSERT_TRUE(IsCanary(response));
  const auto second = Submit();
  const v1::Lease canary = response.execute(0).lease();
  v1::SynchronizeRequest request = with_two(From("a"));
  *request.add_executing() = canary;
  EXPECT_EQ(Call(request).execute_size(), 1);
  EXPECT_EQ(Call(with_two(Done("a", canary))).execute_size(), 2);
}

// Machines that fail are idle first, and there may be more of them than
// attempts: what another can do is done, and they are found.
TEST_F(QuarantineTest, FailingMachinesDoNotEndWorkThatAnotherCanDo) {
  const auto call = [&](const v1::SynchronizeRequest& request) {
    // Each has an address of its own.
    absl::StatusOr<Response> response =
        fleet_.Synchronize(request, {request.worker_id()});
    HONE_EXPECT_OK(response.status());
    return response.ok() ? *response : Response();
  };
  const std::vector<std::string> bad = {"bad0", "bad1", "bad2", "bad3"};
  const auto busy = Submit();
  const Response working = call(From("good"));
  ASSERT_EQ(working.execute_size(), 1);
  for (const std::string& worker : bad) call(From(worker));
  const auto ticket = Submit();
  for (const std::string& worker : bad) {
    const Response taken = call(From(worker));
    ASSERT_EQ(taken.execute_size(), 1);
    ASSERT_FALSE(IsCanary(taken));
    call(Failed(worker, taken.execute(0).lease()));
  }
  EXPECT_FALSE(ticket->Take().has_value());
  const Response next = call(Done("good", working.execute(0).lease()));
  ASSERT_EQ(next.execute_size(), 1);
  call(Done("good", next.execute(0).lease()));
  const auto result = ticket->Take();
  ASSERT_TRUE(result.has_value());
  HONE_ASSERT_OK(result->status());
  EXPECT_EQ((*result)->worker, "good");
  EXPECT_EQ(metrics_.WorkerFaults("failure").Value(), 4);
}

// Workers come and go; their work stays.
TEST_F(QuarantineTest, WorkThatLeavingWorkersGiveBackIsNotAtFault) {
  const auto ticket = Submit();
  for (int i = 0; i < 5; ++i) {
    const std::string worker = absl::StrCat("leaves", i);
    ASSERT_EQ(Call(From(worker)).execute_size(), 1) << i;
    v1::SynchronizeRequest leaving = From(worker);
    leaving.set_state(v1::SynchronizeRequest::LEAVING);
    Call(leaving);
  }
  EXPECT_FALSE(ticket->Take().has_value());
}

// Also if whoever wanted the work has gone.
TEST_F(QuarantineTest, AnErrorOfWorkThatIsGivenUpHasACanary) {
  auto ticket = Submit();
  Call(Failed("broken", Call(From("broken")).execute(0).lease()));
  ticket.reset();
  EXPECT_TRUE(IsCanary(Call(From("broken"))));
}

TEST_F(QuarantineTest, AFailureThatOthersDoNotHaveIsAFault) {
  for (int i = 0; i < 6; ++i) {
    const auto ticket = Submit();
    if (i > 0) PassCanary("bad");
    const v1::Lease lease = Call(From("bad")).execute(0).lease();
    const std::string good = absl::StrCat("good", i);
    HONE_ASSERT_OK(fleet_.Synchronize(From(good), {"elsewhere"}).status());
    Call(Failed("bad", lease));
    HONE_ASSERT_OK_AND_ASSIGN(const Response response,
                              fleet_.Synchronize(From(good), {"elsewhere"}));
    ASSERT_EQ(response.execute_size(), 1);
    HONE_ASSERT_OK(
        fleet_
            .Synchronize(Done(good, response.execute(0).lease()), {"elsewhere"})
            .status());
    HONE_EXPECT_OK(ticket->Take()->status());
  }
  EXPECT_EQ(Listed("bad").quarantine().reason(),
            v1::Worker::Quarantine::FAILURE);
}

TEST_F(QuarantineTest, ACanaryComesNowAndThen) {
  for (int i = 0; i < 3; ++i) {
    const auto ticket = Submit();
    Call(Done("a", Call(From("a")).execute(0).lease()));
    HONE_EXPECT_OK(ticket->Take()->status());
  }
  // The last result was answered with it.
  PassCanary("a");
  EXPECT_EQ(metrics_.Canaries("passed").Value(), 1);
  EXPECT_EQ(Call(From("a")).execute_size(), 0);
  EXPECT_FALSE(Listed("a").has_quarantine());
}

TEST_F(QuarantineTest, ANoisyMachineIsQuarantinedWithAllItsWorkers) {
  const auto on_machine = [](v1::SynchronizeRequest request) {
    request.set_machine("m");
    return request;
  };
  for (int i = 0; i < 3; ++i) {
    const auto ticket = Submit();
    Call(on_machine(
        Done("noisy", Call(on_machine(From("noisy"))).execute(0).lease())));
  }
  for (int i = 0; i < 3; ++i) {
    const Response response = Call(on_machine(From("noisy")));
    ASSERT_TRUE(IsCanary(response));
    Call(on_machine(Done("noisy", response.execute(0).lease())));
  }
  EXPECT_EQ(Listed("noisy").quarantine().reason(),
            v1::Worker::Quarantine::NOISE);
  const auto ticket = Submit();
  // A new id does not help it.
  EXPECT_EQ(Call(on_machine(From("new"))).execute_size(), 0);
  EXPECT_EQ(metrics_.workers_quarantined.Value(), 2);
  EXPECT_FALSE(fleet_.GetDevice("f").ok());
  // Others get work, after a canary if they call from there.
  PassCanary("here");
  EXPECT_FALSE(
      IsCanary(fleet_.Synchronize(From("elsewhere"), {"elsewhere"}).value()));
}

TEST_F(QuarantineTest, ItEndsByTimeOrByReleaseAndWithACanary) {
  for (int i = 0; i < 3; ++i) {
    const auto ticket = Submit();
    Call(Done("liar", Call(From("liar")).execute(0).lease()));
  }
  Call(Done("liar", Call(From("liar")).execute(0).lease()));
  EXPECT_EQ(Listed("liar").quarantine().reason(), v1::Worker::Quarantine::LIE);
  const auto ticket = Submit();
  int woken = 0;
  const auto device = fleet_.WaitForDevice("f", [&] { ++woken; });
  EXPECT_EQ(Call(From("liar")).execute_size(), 0);
  int asked = 0;
  const auto wait = fleet_.WaitForWork("liar", [&] { ++asked; });
  EXPECT_EQ(asked, 0);

  HONE_ASSERT_OK_AND_ASSIGN(const v1::Worker released, fleet_.Release("liar"));
  EXPECT_FALSE(released.has_quarantine());
  EXPECT_TRUE(released.on_probation());
  // It is to come for its canary, not to wait to the end.
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(fleet_.Release("liar"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not quarantined")));
  EXPECT_THAT(fleet_.Release("nobody"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nobody")));
  // It has not become better.
  Response response = Call(From("liar"));
  EXPECT_TRUE(IsCanary(response));
  Call(Done("liar", response.execute(0).lease()));
  EXPECT_TRUE(Listed("liar").has_quarantine());
  EXPECT_EQ(woken, 0);

  clock_.Advance(absl::Minutes(6));
  response = Call(From("liar"));
  EXPECT_TRUE(IsCanary(response));
  v1::SynchronizeRequest reformed = Done("liar", response.execute(0).lease());
  reformed.mutable_completions(0)->mutable_kernel()->clear_baseline();
  EXPECT_EQ(Call(reformed).execute_size(), 1);
  EXPECT_EQ(woken, 1);
}

TEST_F(QuarantineTest, TooManyWorkersAreRefused) {
  for (int i = 0; i < 1000; ++i) {
    HONE_ASSERT_OK(
        fleet_.Synchronize(From(absl::StrCat("w", i)), {"here"}).status());
  }
  EXPECT_THAT(fleet_.Synchronize(From("more"), {"here"}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("expected less than")));
  HONE_EXPECT_OK(fleet_.Synchronize(From("w7"), {"here"}).status());
  HONE_EXPECT_OK(fleet_.Synchronize(From("other"), {"there"}).status());
  // Places become free again.
  v1::SynchronizeRequest leaving = From("w7");
  leaving.set_state(v1::SynchronizeRequest::LEAVING);
  HONE_EXPECT_OK(fleet_.Synchronize(leaving, {"here"}).status());
  HONE_EXPECT_OK(fleet_.Synchronize(From("more"), {"here"}).status());
  clock_.Advance(kLease + absl::Seconds(1));
  fleet_.Expire();
  EXPECT_TRUE(fleet_.Workers().empty());
}

TEST_F(QuarantineTest, AnIdInUseIsNotTaken) {
  Call(From("a"));
  v1::SynchronizeRequest other = From("a");
  other.set_machine("elsewhere");
  EXPECT_THAT(fleet_.Synchronize(other),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("expected a new id")));
}

TEST_F(QuarantineTest, AnIdBelongsToWhoUsedItFirst) {
  const WorkerCaller owner = {"here", "token:owner"};
  const WorkerCaller thief = {"here", "token:thief"};
  const auto ticket = Submit();
  HONE_ASSERT_OK_AND_ASSIGN(const Response response,
                            fleet_.Synchronize(From("a"), owner));
  EXPECT_EQ(Listed("a").principal(), "token:owner");
  v1::SynchronizeRequest leaving = From("a");
  leaving.set_state(v1::SynchronizeRequest::LEAVING);
  const v1::Lease& lease = response.execute(0).lease();
  for (const v1::SynchronizeRequest& request :
       {From("a"), leaving, Done("a", lease)}) {
    EXPECT_THAT(fleet_.Synchronize(request, thief),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         HasSubstr("the id of another caller")));
  }
  // From another address it is still the same.
  HONE_ASSERT_OK_AND_ASSIGN(
      const Response done,
      fleet_.Synchronize(Done("a", lease), {"there", "token:owner"}));
  EXPECT_TRUE(done.receipts(0).accepted());
  HONE_EXPECT_OK(ticket->Take()->status());
  // Once it has left, the id is free.
  HONE_ASSERT_OK(fleet_.Synchronize(leaving, owner).status());
  HONE_EXPECT_OK(fleet_.Synchronize(From("a"), thief).status());
}

}  // namespace
}  // namespace hone::daemon

// Workers with several devices, of several kinds of work, and that drain.

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "daemon/fleet/fleet.h"
#include "tests/daemon/fleet/requests.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::DeviceNamed;
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

// Adds a device "g" to the "f" of the worker.
v1::SynchronizeRequest Two(v1::SynchronizeRequest request) {
  *request.add_devices() = DeviceNamed("g");
  return request;
}

v1::SynchronizeRequest Draining(v1::SynchronizeRequest request) {
  request.set_state(v1::SynchronizeRequest::DRAINING);
  return request;
}

class FleetDevicesTest : public ::testing::Test {
 protected:
  std::unique_ptr<Fleet::Ticket> Submit(const std::string& name,
                                        const std::string& device = "") {
    return fleet_.Submit(RequestFor(name, device)).value();
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

TEST_F(FleetDevicesTest, EachDeviceHasWorkOfItsOwn) {
  const auto on_g = Submit("on_g", "g");
  const auto on_f = Submit("on_f", "f");
  const auto later = Submit("later", "g");
  const Response both = Call(Two(From("a")));
  ASSERT_EQ(both.execute_size(), 2);
  EXPECT_EQ(both.execute(0).lease().device(), 0);
  EXPECT_EQ(both.execute(0).work().kernel().module(), "on_f");
  EXPECT_EQ(both.execute(1).lease().device(), 1);
  EXPECT_EQ(both.execute(1).work().kernel().module(), "on_g");
  EXPECT_THAT(fleet_.Workers()[0].busy_devices(), ElementsAre(0, 1));

  // The second device is done, and gets more while the first goes on.
  v1::SynchronizeRequest done = Two(Done("a", both.execute(1).lease()));
  *done.add_executing() = both.execute(0).lease();
  const Response next = Call(done);
  EXPECT_TRUE(next.receipts(0).accepted());
  HONE_EXPECT_OK(on_g->Take()->status());
  ASSERT_EQ(next.execute_size(), 2);
  EXPECT_FALSE(next.execute(0).has_work());
  EXPECT_EQ(next.execute(0).lease().fence(), both.execute(0).lease().fence());
  EXPECT_EQ(next.execute(1).work().kernel().module(), "later");
  EXPECT_FALSE(on_f->Take().has_value());
}

TEST_F(FleetDevicesTest, OneDeviceLosesItsLeaseAndTheOtherKeepsIt) {
  Fleet::Request limited = RequestFor("limited", "f");
  limited.limit = absl::Seconds(12);
  const auto slow = fleet_.Submit(limited).value();
  const auto good = Submit("good", "g");
  const Response both = Call(Two(From("a")));
  v1::SynchronizeRequest executing =
      Two(Executing("a", both.execute(0).lease()));
  *executing.add_executing() = both.execute(1).lease();
  clock_.Advance(kLease * 0.9);
  EXPECT_EQ(Call(executing).execute_size(), 2);
  clock_.Advance(kLease * 0.9);
  // The machine is the only one, and gets it again once it has stopped.
  const Response left = Call(executing);
  ASSERT_EQ(left.execute_size(), 1);
  EXPECT_EQ(left.execute(0).lease().device(), 1);
  v1::SynchronizeRequest stopped = Two(Done("a", both.execute(0).lease()));
  *stopped.add_executing() = both.execute(1).lease();
  const Response again = Call(stopped);
  EXPECT_FALSE(again.receipts(0).accepted());
  EXPECT_EQ(again.execute(0).work().kernel().module(), "limited");
  EXPECT_GT(again.execute(0).lease().fence(), both.execute(1).lease().fence());
}

TEST_F(FleetDevicesTest, AnIdleDeviceIsWokenWhileTheOtherWorks) {
  const auto first = Submit("first", "f");
  const v1::Lease lease = Call(Two(From("a"))).execute(0).lease();
  EXPECT_EQ(Call(Two(Executing("a", lease))).execute_size(), 1);
  int woken = 0;
  const auto wait = fleet_.WaitForWork("a", [&] { ++woken; });
  const auto second = Submit("second", "f");
  EXPECT_EQ(woken, 0);
  const auto third = Submit("third", "g");
  EXPECT_EQ(woken, 1);
}

TEST_F(FleetDevicesTest, AllDevicesAreOffered) {
  Call(Two(From("a")));
  ASSERT_EQ(fleet_.Devices().size(), 2u);
  EXPECT_EQ(fleet_.Devices()[1].fingerprint(), "g");
  HONE_EXPECT_OK(fleet_.GetDevice("g").status());
  EXPECT_THAT(fleet_.Synchronize(From("a")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("connected with 2 devices")));
}

TEST_F(FleetDevicesTest, WorkGoesToWorkersThatCanDoIt) {
  v1::SynchronizeRequest other = From("other");
  other.clear_capabilities();
  other.add_capabilities("of_the_future");
  const auto work = Submit("w");
  EXPECT_EQ(Call(other).execute_size(), 0);
  EXPECT_THAT(fleet_.Workers()[0].capabilities(), ElementsAre("of_the_future"));
  EXPECT_EQ(Call(From("a")).execute_size(), 1);
}

TEST_F(FleetDevicesTest, ADrainingWorkerFinishesAndTakesNoMore) {
  const auto first = Submit("first");
  const v1::Lease lease = Call(From("a")).execute(0).lease();
  const auto second = Submit("second");
  EXPECT_EQ(Call(Draining(Executing("a", lease))).execute_size(), 1);
  EXPECT_TRUE(fleet_.Workers()[0].draining());
  EXPECT_THAT(fleet_.GetDevice("f"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("f")));
  const Response last = Call(Draining(Done("a", lease)));
  EXPECT_TRUE(last.receipts(0).accepted());
  EXPECT_EQ(last.execute_size(), 0);
  HONE_EXPECT_OK(first->Take()->status());
  EXPECT_EQ(metrics_.WorkerFaults("lost_lease").Value(), 0);
  EXPECT_EQ(Call(From("b")).execute(0).work().kernel().module(), "second");
}

// The response with its lease was lost, and it does not ask for it again.
TEST_F(FleetDevicesTest, ADrainingWorkerGivesBackWhatItNeverGot) {
  const auto work = Submit("w");
  EXPECT_EQ(Call(From("a")).execute_size(), 1);
  EXPECT_EQ(Call(Draining(From("a"))).execute_size(), 0);
  EXPECT_EQ(Call(From("b")).execute_size(), 1);
}

TEST_F(FleetDevicesTest, TheDaemonAsksAWorkerToDrain) {
  const auto first = Submit("first");
  const v1::Lease lease = Call(Two(From("a"))).execute(0).lease();
  EXPECT_FALSE(Call(Two(Executing("a", lease))).drain());
  int woken = 0;
  const auto wait = fleet_.WaitForWork("a", [&] { ++woken; });
  HONE_ASSERT_OK_AND_ASSIGN(const v1::Worker worker, fleet_.DrainWorker("a"));
  EXPECT_TRUE(worker.draining());
  EXPECT_EQ(woken, 1);
  const auto second = Submit("second");
  // A worker that does not know how to drain gets no work either.
  const Response response = Call(Two(Executing("a", lease)));
  EXPECT_TRUE(response.drain());
  EXPECT_EQ(response.execute_size(), 1);
  EXPECT_EQ(Call(Two(Done("a", lease))).execute_size(), 0);
  HONE_EXPECT_OK(first->Take()->status());
  EXPECT_THAT(fleet_.DrainWorker("nobody"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nobody")));
}

}  // namespace
}  // namespace hone::daemon

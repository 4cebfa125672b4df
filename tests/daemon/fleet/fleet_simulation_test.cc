// The fleet on a fake clock, with workers of two devices that come, pause,
// repeat calls, lose responses, lie about fences, drain and leave, in an order
// that a seed decides.
// By default there are over 10,000 pauses beyond a lease. HONE_FLEET_SEEDS asks
// for more seeds; HONE_FLEET_SEED replays a single one.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "daemon/fleet/fleet.h"
#include "tests/daemon/fleet/requests.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::DeviceNamed;
using ::hone::testing::FakeClock;
using ::hone::testing::From;
using ::hone::testing::RequestFor;
using ::hone::testing::WorkNamed;

constexpr absl::Duration kLease = absl::Seconds(10);
constexpr int kEvents = 1500;
constexpr size_t kMostWorkers = 6;
constexpr size_t kMostWork = 8;
// It calls in time, whatever the others do.
constexpr char kHonest[] = "honest";
// Of each worker: "f" and, if its name ends in an even digit or it is the
// honest one, "g"; otherwise a second "f".
constexpr int kDevices = 2;

v1::SynchronizeRequest FromTwo(const std::string& worker) {
  v1::SynchronizeRequest request = From(worker);
  const bool is_alike = worker != kHonest && worker.back() % 2 == 1;
  *request.add_devices() = DeviceNamed(is_alike ? "f" : "g");
  return request;
}

uint64_t FromEnvironment(const char* name, uint64_t value) {
  const char* const text = std::getenv(name);
  if (text != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  }
  return value;
}

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : rng_(seed), fleet_(MakeFleet()) {}

  void Run() {
    believed_[kHonest];
    for (int i = 0; i < kEvents; ++i) {
      Event();
      if (::testing::Test::HasFailure()) return;
    }
    Finish();
  }
  int pauses() const { return pauses_; }

 private:
  // A lease as the protocol has it.
  struct Held {
    int64_t fence = 0;
    std::string worker;
    int device = 0;
    absl::Duration end;
  };
  // The leases that a worker believes to have, by device; several workers may
  // believe the same.
  struct Believed {
    std::optional<v1::Lease> leases[kDevices];
    bool drains = false;

    bool is_idle() const {
      return absl::c_none_of(
          leases, [](const auto& lease) { return lease.has_value(); });
    }
  };
  // Work whose caller waits.
  struct Waiting {
    std::unique_ptr<Fleet::Ticket> ticket;
    std::string name;
  };

  std::unique_ptr<Fleet> MakeFleet() {
    Fleet::Options options;
    options.lease = kLease;
    options.max_attempts = 1'000'000;
    options.canary.make = [](uint64_t) { return WorkNamed("canary"); };
    options.canary.judge = [this](const v1::Completion&) {
      return rng_.Below(8) == 0
                 ? Fleet::CanaryResult{CanaryVerdict::kNoisy, "noise"}
                 : Fleet::CanaryResult{};
    };
    options.standings.first_quarantine = absl::Minutes(1);
    options.standings.longest_quarantine = absl::Minutes(2);
    options.standings.canary_works = 5;
    return std::make_unique<Fleet>(clock_, metrics_, options);
  }

  void Event() {
    switch (rng_.Below(10)) {
      case 0:
        AddWork();
        return;
      case 1:
        TakeBack();
        return;
      case 2:
        Advance(kLease * (0.1 + 0.5 * rng_.Uniform()));
        return;
      case 3:
        // Everybody but the honest worker pauses for longer than a lease.
        for (int i = 0; i < 4; ++i) Advance(kLease * 0.3);
        ++pauses_;
        return;
      case 4:
        if (believed_.size() < kMostWorkers) {
          believed_[absl::StrCat("w", ++serial_)];
        }
        return;
      case 5:
        Lie();
        return;
      case 6:
        Wait();
        return;
      default:
        Act(Someone());
    }
  }

  std::string Someone() {
    auto it = believed_.begin();
    std::advance(it, rng_.Below(believed_.size()));
    return it->first;
  }

  void AddWork() {
    if (waiting_.size() >= kMostWork) return;
    const std::string name = absl::StrCat("work", ++serial_);
    const char* const devices[] = {"", "f", "g"};
    auto ticket = fleet_->Submit(RequestFor(name, devices[rng_.Below(3)]));
    HONE_ASSERT_OK(ticket);
    waiting_.push_back({*std::move(ticket), name});
  }

  void TakeBack() {
    if (rng_.Below(4) != 0 || waiting_.empty()) return;
    const auto work =
        waiting_.begin() + static_cast<int64_t>(rng_.Below(waiting_.size()));
    for (auto& [id, held] : held_) {
      if (names_[id] == work->name) End(held);
    }
    waiting_.erase(work);
  }

  void Advance(absl::Duration duration) {
    clock_.Advance(duration);
    Act(kHonest);
  }

  // One honest step of a worker, whose call or response may be lost.
  void Act(const std::string& worker) {
    Believed& believed = believed_[worker];
    v1::SynchronizeRequest request = FromTwo(worker);
    const bool is_honest = worker == kHonest;
    for (const std::optional<v1::Lease>& lease : believed.leases) {
      if (!lease.has_value()) continue;
      if (rng_.Below(3) == 0) {
        AddCompletion(request, *lease);
      } else {
        *request.add_executing() = *lease;
      }
    }
    believed.drains |= !is_honest && rng_.Below(40) == 0;
    if (believed.drains) request.set_state(v1::SynchronizeRequest::DRAINING);
    if (!is_honest && believed.is_idle() &&
        (believed.drains || rng_.Below(20) == 0)) {
      request.set_state(v1::SynchronizeRequest::LEAVING);
    }
    if (!is_honest && rng_.Below(10) == 0) return;  // lost on its way
    const v1::SynchronizeResponse response = Send(request);
    if (rng_.Below(10) == 0) return;  // the response is lost
    if (rng_.Below(10) == 0) Send(request);
    if (request.state() == v1::SynchronizeRequest::LEAVING) {
      believed_.erase(worker);
      return;
    }
    for (std::optional<v1::Lease>& lease : believed.leases) lease.reset();
    for (const auto& execute : response.execute()) {
      believed.leases[execute.lease().device()] = execute.lease();
    }
  }

  // A result that nobody may take: another's lease, an old one, a made up one.
  void Lie() {
    const std::string worker = Someone();
    if (worker == kHonest || seen_.empty()) return;
    v1::SynchronizeRequest request = FromTwo(worker);
    v1::Lease lease = seen_[rng_.Below(seen_.size())];
    if (rng_.Below(2) == 0) {
      lease.set_fence(1 + static_cast<int64_t>(rng_.Below(
                              static_cast<uint64_t>(last_fence_) + 3)));
    }
    AddCompletion(request, lease);
    Send(request);
  }

  void Wait() {
    const std::string worker = Someone();
    auto handle = fleet_->WaitForWork(worker, [] {});
    if (rng_.Below(2) == 0) waits_.push_back(std::move(handle));
    if (waits_.size() > 4) waits_.erase(waits_.begin());
  }

  static void AddCompletion(v1::SynchronizeRequest& request,
                            const v1::Lease& lease) {
    v1::Completion& completion = *request.add_completions();
    *completion.mutable_lease() = lease;
    completion.mutable_kernel()->mutable_baseline()->set_outcome(
        v1::KernelTiming::OK);
    completion.mutable_kernel()->mutable_baseline()->set_message(
        absl::StrCat(lease.fence()));
  }

  // Calls the fleet and compares its answer with the protocol.
  v1::SynchronizeResponse Send(const v1::SynchronizeRequest& request) {
    const absl::Duration now = clock_.Monotonic();
    absl::StatusOr<v1::SynchronizeResponse> response =
        fleet_->Synchronize(request);
    HONE_EXPECT_OK(response.status());
    if (!response.ok()) return {};
    const std::string& worker = request.worker_id();
    for (int i = 0; i < response->receipts_size(); ++i) {
      const v1::Lease& lease = request.completions(i).lease();
      if (!response->receipts(i).accepted()) {
        // A result of a machine in quarantine ends its lease.
        Held& held = held_[lease.work_id()];
        if (held.fence == lease.fence() && held.worker == worker) End(held);
        continue;
      }
      const auto earlier = accepted_.find(lease.work_id());
      if (earlier != accepted_.end()) {
        // Only the receipt of the same result again.
        EXPECT_EQ(earlier->second, lease.fence());
        continue;
      }
      accepted_[lease.work_id()] = lease.fence();
      const Held& held = held_[lease.work_id()];
      EXPECT_EQ(held.fence, lease.fence()) << "a stale result was accepted";
      EXPECT_EQ(held.worker, worker) << "a stolen lease was accepted";
      EXPECT_GE(held.end, now) << "an expired lease was accepted";
    }
    if (request.state() != v1::SynchronizeRequest::ACTIVE) {
      // What it does not say that it executes, it gives back.
      for (auto& [_, held] : held_) {
        if (held.worker == worker && !IsExecuting(request, held)) End(held);
      }
    }
    std::set<int> busy;
    for (const auto& execute : response->execute()) {
      EXPECT_TRUE(busy.insert(execute.lease().device()).second)
          << "a device has two leases";
      CheckLease(request, execute, now);
    }
    return *response;
  }

  static bool IsExecuting(const v1::SynchronizeRequest& request,
                          const Held& held) {
    return absl::c_any_of(request.executing(), [&](const v1::Lease& lease) {
      return lease.fence() == held.fence;
    });
  }

  // Compares a lease that the fleet gives or renews with the protocol.
  void CheckLease(const v1::SynchronizeRequest& request,
                  const v1::SynchronizeResponse::Execute& execute,
                  absl::Duration now) {
    const v1::Lease& lease = execute.lease();
    EXPECT_FALSE(accepted_.contains(lease.work_id()))
        << "work that was done is leased";
    Held& held = held_[lease.work_id()];
    if (lease.fence() != held.fence) {
      EXPECT_EQ(request.state(), v1::SynchronizeRequest::ACTIVE)
          << "a worker that drains gets work";
      EXPECT_GT(lease.fence(), last_fence_);
      EXPECT_TRUE(held.fence == 0 || held.end < now || IsGivenUp(held))
          << "work is leased twice";
      for (const auto& [id, other] : held_) {
        EXPECT_TRUE(other.worker != request.worker_id() ||
                    other.device != lease.device() || other.end < now ||
                    accepted_.contains(id) || IsGivenUp(other))
            << "a device gets work while it has some";
      }
      last_fence_ = lease.fence();
      names_[lease.work_id()] = execute.work().kernel().module();
      granted_[lease.fence()] = now;
      seen_.push_back(lease);
      if (seen_.size() > 64) seen_.erase(seen_.begin());
    }
    held = {lease.fence(), request.worker_id(), lease.device(), now + kLease};
  }

  static void End(Held& held) { held.end = -absl::InfiniteDuration(); }

  // Work that was taken and not started may be taken away.
  bool IsGivenUp(const Held& held) {
    return clock_.Monotonic() - granted_[held.fence] > 2 * kLease;
  }

  // The honest worker alone does what is left.
  void Finish() {
    for (auto it = believed_.begin(); it != believed_.end();) {
      if (it->first == kHonest) {
        ++it;
        continue;
      }
      v1::SynchronizeRequest request = FromTwo(it->first);
      request.set_state(v1::SynchronizeRequest::LEAVING);
      Send(request);
      it = believed_.erase(it);
    }
    waits_.clear();
    for (int i = 0; i < 3000 && Unfinished(); ++i) Advance(kLease * 0.3);
    EXPECT_FALSE(Unfinished()) << "work is lost";
    for (const Waiting& waiting : waiting_) {
      const auto result = waiting.ticket->Take();
      if (!result.has_value()) continue;
      HONE_ASSERT_OK(result->status());
      const v1::Completion& completion = (*result)->completion;
      const std::string& id = completion.lease().work_id();
      EXPECT_EQ(names_[id], waiting.name);
      EXPECT_EQ(completion.kernel().baseline().message(),
                absl::StrCat(accepted_[id]));
    }
    waiting_.clear();
    clock_.Advance(2 * kLease + absl::Hours(1));
    fleet_->Expire();
    EXPECT_EQ(metrics_.workers.Value(), 0);
    EXPECT_EQ(metrics_.workers_waiting.Value(), 0);
    EXPECT_EQ(metrics_.work_queue_depth.Value(), 0);
    EXPECT_EQ(metrics_.leases_active.Value(), 0);
  }

  bool Unfinished() const {
    return metrics_.work_queue_depth.Value() > 0 ||
           metrics_.leases_active.Value() > 0;
  }

  Rng rng_;
  FakeClock clock_;
  Metrics metrics_;
  std::unique_ptr<Fleet> fleet_;
  std::vector<Waiting> waiting_;
  std::vector<std::shared_ptr<void>> waits_;
  std::map<std::string, Believed> believed_;
  // By work: the last lease, and the fence of the accepted result.
  std::map<std::string, Held> held_;
  std::map<std::string, int64_t> accepted_;
  std::map<std::string, std::string> names_;
  std::map<int64_t, absl::Duration> granted_;
  std::vector<v1::Lease> seen_;
  int64_t last_fence_ = 0;
  int serial_ = 0;
  int pauses_ = 0;
};

TEST(FleetSimulation, NoResultIsLostOrTakenTwiceWhateverWorkersDo) {
  const uint64_t only = FromEnvironment("HONE_FLEET_SEED", 0);
  const uint64_t first = only == 0 ? 1 : only;
  const uint64_t last =
      only == 0 ? FromEnvironment("HONE_FLEET_SEEDS", 200) : only;
  int pauses = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("HONE_FLEET_SEED=", seed));
    Simulation simulation(seed);
    simulation.Run();
    pauses += simulation.pauses();
    if (HasFailure()) break;
  }
  std::cout << last - first + 1 << " seeds, " << kEvents << " events each, "
            << pauses << " pauses beyond a lease\n";
}

}  // namespace
}  // namespace hone::daemon

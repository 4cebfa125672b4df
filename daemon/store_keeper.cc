#include "daemon/store_keeper.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include <spdlog/spdlog.h>

namespace hone::daemon {
namespace {

constexpr absl::Duration kRoundEvery = absl::Minutes(1);
constexpr absl::Duration kProbeEvery = absl::Seconds(2);
// Between steps, for others that write.
constexpr absl::Duration kPause = absl::Milliseconds(20);

}  // namespace

StoreKeeper::StoreKeeper(storage::Store& store,
                         const storage::RetentionPolicy& policy,
                         std::function<void(bool writable)> on_change)
    : store_(store),
      policy_(policy),
      on_change_(std::move(on_change)),
      thread_([this] { Work(); }) {}

StoreKeeper::~StoreKeeper() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

bool StoreKeeper::stopping() {
  absl::MutexLock lock(&mu_);
  return stopping_;
}

void StoreKeeper::Work() {
  absl::Duration since_round = kRoundEvery;
  while (true) {
    // A request may have found that the store can be written to again: others
    // are to know that soon, too.
    if (since_round >= kRoundEvery || !is_writable_ || !store_.Health().ok()) {
      TakeRound();
      since_round = absl::ZeroDuration();
    }
    absl::MutexLock lock(&mu_);
    if (mu_.AwaitWithTimeout(absl::Condition(&stopping_), kProbeEvery)) return;
    since_round += kProbeEvery;
  }
}

void StoreKeeper::TakeRound() {
  bool more = true;
  while (more && !stopping()) {
    const absl::StatusOr<storage::SweepResult> result = store_.Sweep(policy_);
    more = result.ok() && result->more;
    if (!result.ok()) {
      spdlog::debug("retention: {}", std::string(result.status().message()));
    }
    const absl::Status health = store_.Health();
    if (health.ok() != is_writable_) {
      is_writable_ = health.ok();
      if (is_writable_) {
        spdlog::info("the store can be written to again");
      } else {
        spdlog::error("the store cannot be written to: {}",
                      std::string(health.message()));
      }
      on_change_(is_writable_);
    }
    absl::MutexLock lock(&mu_);
    if (more) mu_.AwaitWithTimeout(absl::Condition(&stopping_), kPause);
  }
}

}  // namespace hone::daemon

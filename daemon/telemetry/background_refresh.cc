#include "daemon/telemetry/background_refresh.h"

#include <utility>

namespace hone::daemon {

BackgroundRefresh::BackgroundRefresh(std::function<void()> refresh)
    : refresh_(std::move(refresh)) {}

void BackgroundRefresh::Run(absl::Duration patience) {
  absl::MutexLock lock(&mu_);
  if (!std::exchange(running_, true)) {
    thread_.Schedule([this] {
      refresh_();
      absl::MutexLock done(&mu_);
      running_ = false;
    });
  }
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !running_;
  };
  mu_.AwaitWithTimeout(absl::Condition(&idle), patience);
}

}  // namespace hone::daemon

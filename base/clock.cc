#include "base/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace hone {
namespace {

class SystemClockImpl final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
  absl::Duration Monotonic() const override {
    return absl::FromChrono(
        std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

const Clock& SystemClock() {
  static const auto* const clock = new SystemClockImpl;
  return *clock;
}

}  // namespace hone

// kill -9 at random moments while clients tune: nothing that was acknowledged
// is lost, nothing is there twice, and the next start is fast.

#include <algorithm>

#include "absl/time/clock.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/faults/faults.h"
#include "bench/faults/tuning_load.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {

using Json = nlohmann::ordered_json;

absl::StatusOr<Json> KillUnderLoad(const FaultOptions& options) {
  Json row = {{"fault", "kill"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  TuningLoad load(daemon);
  Rng rng(options.seed);
  absl::Duration slowest;
  int64_t during_tunings = 0;
  absl::Status status;
  for (int64_t i = 0; i < options.kills && status.ok(); ++i) {
    // Every second time, not before another result was acknowledged.
    const size_t enough = load.published().size() + static_cast<size_t>(i % 2);
    absl::SleepFor(absl::Milliseconds(5 + rng.Below(800)));
    const absl::Time end = absl::Now() + absl::Minutes(1);
    while (load.published().size() < enough && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    during_tunings += load.running() > 0;
    daemon.Kill();
    const absl::StatusOr<absl::Duration> ready = daemon.Start();
    status = ready.status();
    if (ready.ok()) slowest = std::max(slowest, *ready);
  }
  load.Stop();
  HONE_RETURN_IF_ERROR(status);
  row["kills"] = options.kills;
  row["kills while tunings run"] = during_tunings;
  HONE_RETURN_IF_ERROR(load.Compare(row));
  row["slowest start, s"] = absl::ToDoubleSeconds(slowest);
  if (2 * during_tunings < options.kills) {
    row["broken"].push_back("most kills met an idle daemon");
  }
  if (slowest > absl::Seconds(1)) {
    row["broken"].push_back("a start took more than 1 s");
  }
  return row;
}

}  // namespace hone::bench

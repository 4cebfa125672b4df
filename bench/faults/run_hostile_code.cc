// Native code that crashes, hangs or attacks the machine where a candidate
// runs: each is an outcome of its trial, tunings end, and the daemon answers.

#include <string>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/faults/faults.h"
#include "bench/faults/health_watch.h"
#include "bench/faults/kernel_load.h"
#include "bench/faults/preloaded_library.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {

using Json = nlohmann::ordered_json;

absl::StatusOr<Json> RunHostileCode(const FaultOptions& options) {
  Json row = {{"fault", "native"}, {"broken", Json::array()}};
  HONE_ASSIGN_OR_RETURN(const std::string library,
                        FindPreloadedLibrary("libhone_hostile_code.so"));
  DaemonProcess daemon(
      {.environment = {"LD_PRELOAD=" + library,
                       absl::StrCat("HONE_HOSTILE_CODE=", options.seed)}});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HealthWatch health(daemon);
  KernelLoad load(daemon, options.native_trials);
  load.Run();
  load.Report(row);
  int64_t spoiled = 0;
  for (const char* outcome : {"crashed", "timeout"}) {
    const double count = daemon.Metric(
        absl::StrCat("hone_candidates_total{outcome=\"", outcome, "\"}"));
    row[absl::StrCat("trials that ended as ", outcome)] = count;
    spoiled += static_cast<int64_t>(count);
  }
  health.Report(row);
  if (spoiled <= 0) row["broken"].push_back("no hostile code was run");
  if (!daemon.IsAlive()) {
    row["broken"].push_back("honed has ended");
  } else if (const auto end = daemon.Terminate(); end.status != 0) {
    row["broken"].push_back(absl::StrCat("exit status ", end.status));
  }
  return row;
}

}  // namespace hone::bench

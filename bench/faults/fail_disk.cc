// A disk that fails (EIO) at random moments under load: lookups go on, nothing
// that was acknowledged is lost, and the daemon stores again afterwards.

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/faults.h"
#include "bench/faults/preloaded_library.h"
#include "bench/faults/tuning_load.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {
using Json = nlohmann::ordered_json;

absl::StatusOr<Json> FailDisk(const FaultOptions& options) {
  Json row = {{"fault", "io-errors"}, {"broken", Json::array()}};
  HONE_ASSIGN_OR_RETURN(const std::string library,
                        FindPreloadedLibrary("libhone_failing_disk.so"));
  TemporaryDirectory folder;
  const std::string state = folder.path() + "/state";
  // While it exists, calls fail; each call that has failed adds a byte to it.
  const std::string failing = folder.path() + "/failing";
  DaemonProcess daemon(
      {.environment = {"LD_PRELOAD=" + library, "HONE_FAILING_FOLDER=" + state,
                       "HONE_FAILING_WHILE=" + failing},
       .state = state});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  Rng rng(options.seed);
  TuningLoad load(daemon);
  int64_t failed = 0;
  int64_t lookups = 0;
  for (int64_t i = 0; i < options.io_errors; ++i) {
    // From one time to the next, some results come, or none comes ever more.
    const size_t enough = load.published().size() + 2;
    const absl::Time end = absl::Now() + absl::Minutes(2);
    while (load.published().size() < enough && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    if (load.published().size() < enough) {
      row["broken"].push_back("no tuning ended after the disk had failed");
      break;
    }
    std::ofstream(failing) << rng.Below(1 << 20) << "\n";
    absl::SleepFor(absl::Milliseconds(rng.Below(300)));
    lookups += static_cast<int64_t>(load.published().size());
    if (const TuningLoad::Lost lost = load.FindLost(); lost.count > 0) {
      row["broken"].push_back(
          absl::StrCat(lost.count, " lookups failed meanwhile: ", lost.error));
    }
    std::error_code error;
    std::ifstream file(failing);
    std::string seed;
    std::string calls;
    std::getline(file, seed);
    std::getline(file, calls);
    failed += static_cast<int64_t>(calls.size());
    std::filesystem::remove(failing, error);
    if (!daemon.IsAlive()) {
      row["broken"].push_back("honed has ended: " + daemon.Errors());
      return row;
    }
  }
  load.Stop();
  row["times"] = options.io_errors;
  row["calls that failed"] = failed;
  row["lookups meanwhile"] = lookups;
  if (failed == 0) row["broken"].push_back("no call has failed");
  daemon.Kill();
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HONE_RETURN_IF_ERROR(load.Compare(row));
  return row;
}

}  // namespace hone::bench

// Native code that crashes, hangs or attacks the machine where a candidate
// runs: no attack is let through, each is an outcome of its trial, tunings end,
// and the daemon answers.

#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/faults.h"
#include "bench/faults/health_watch.h"
#include "bench/faults/hostile_counts.h"
#include "bench/faults/kernel_load.h"
#include "bench/faults/preloaded_library.h"
#include "bench/faults/worker_releaser.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// With so many trials each attack has been tried: some 20 of each are expected.
constexpr int64_t kTrialsForAll = 1000;

// Makes a file of counts, all 0, and maps it. Returns null on errors.
HostileCounts* MakeCounts(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  const absl::Cleanup closer = [file] { close(file); };
  if (ftruncate(file, sizeof(HostileCounts)) != 0) return nullptr;
  void* const bytes = mmap(nullptr, sizeof(HostileCounts),
                           PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return bytes == MAP_FAILED ? nullptr : static_cast<HostileCounts*>(bytes);
}

void ReportAttacks(const HostileCounts& counts, int64_t trials, Json& row) {
  Json& attacks = row["attacks"];
  int64_t all = 0;
  for (size_t i = 0; i < kAttacks.size(); ++i) {
    const int64_t tried = counts.tried[i];
    const int64_t refused = counts.refused[i];
    const int64_t succeeded = counts.succeeded[i];
    attacks[kAttacks[i]] = {{"tried", tried},
                            {"refused with an error", refused},
                            {"ended", tried - refused - succeeded},
                            {"let through", succeeded}};
    all += tried;
    if (tried == 0 && trials >= kTrialsForAll) {
      row["broken"].push_back(absl::StrCat(kAttacks[i], " was never tried"));
    }
    if (succeeded > 0) {
      row["broken"].push_back(
          absl::StrCat(kAttacks[i], " was let through ", succeeded, " times"));
    }
  }
  if (all == 0) row["broken"].push_back("no hostile code was run");
}

}  // namespace

absl::StatusOr<Json> RunHostileCode(const FaultOptions& options) {
  Json row = {{"fault", "native"}, {"broken", Json::array()}};
  HONE_ASSIGN_OR_RETURN(const std::string library,
                        FindPreloadedLibrary("libhone_hostile_code.so"));
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/counts";
  HostileCounts* const counts = MakeCounts(path);
  if (counts == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot map '", path, "'"));
  }
  const absl::Cleanup unmap = [&] { munmap(counts, sizeof(HostileCounts)); };
  DaemonProcess daemon(
      {.environment = {"LD_PRELOAD=" + library,
                       absl::StrCat("HONE_HOSTILE_CODE=", options.seed),
                       "HONE_HOSTILE_COUNTS=" + path}});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HealthWatch health(daemon);
  // Canaries crash like all other kernels.
  WorkerReleaser releaser(daemon);
  KernelLoad load(daemon, options.native_trials);
  load.Run();
  releaser.Stop();
  load.Report(row);
  ReportAttacks(*counts, options.native_trials, row);
  int64_t spoiled = 0;
  for (const char* outcome : {"crashed", "timeout"}) {
    const double count = daemon.Metric(
        absl::StrCat("hone_candidates_total{outcome=\"", outcome, "\"}"));
    row[absl::StrCat("trials that ended as ", outcome)] = count;
    spoiled += static_cast<int64_t>(count);
  }
  row["quarantines"] = releaser.released();
  health.Report(row);
  if (spoiled <= 0) row["broken"].push_back("no attack is a trial's outcome");
  if (!daemon.IsAlive()) {
    row["broken"].push_back("honed has ended");
  } else if (const auto end = daemon.Terminate(); end.status != 0) {
    row["broken"].push_back(absl::StrCat("exit status ", end.status));
  }
  return row;
}

}  // namespace hone::bench

// Workers that are stopped at random moments and go on after their lease: no
// result under an expired lease is accepted, and all tunings end.

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <sys/wait.h>

#include "base/child_process.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/faults.h"
#include "bench/faults/fence_recorder.h"
#include "bench/faults/kernel_load.h"
#include "bench/faults/worker_releaser.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kWorkers = 3;
constexpr absl::Duration kLease = absl::Seconds(1);

// A worker process that is stopped again and again.
class PausedWorker {
 public:
  PausedWorker(pid_t pid, uint64_t seed)
      : pid_(pid), thread_([this, seed] { PauseOften(seed); }) {}
  ~PausedWorker() {
    end_ = true;
    thread_.join();
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  PausedWorker(const PausedWorker&) = delete;
  PausedWorker& operator=(const PausedWorker&) = delete;

  int64_t pauses() const { return pauses_; }

 private:
  void PauseOften(uint64_t seed) {
    Rng rng(seed);
    while (!end_) {
      absl::SleepFor(absl::Milliseconds(rng.Below(3000)));
      kill(pid_, SIGSTOP);
      ++pauses_;
      absl::SleepFor(kLease *
                     (1.1 + 0.01 * static_cast<double>(rng.Below(100))));
      kill(pid_, SIGCONT);
    }
  }

  const pid_t pid_;
  std::atomic<bool> end_ = false;
  std::atomic<int64_t> pauses_ = 0;
  std::thread thread_;  // last: it uses the others
};

absl::StatusOr<pid_t> StartWorker(const std::string& address) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").string();
  // Its words about lost leases are of no interest.
  return StartChildProcess(
      {.program = "/bin/sh",
       .arguments = {"-c", "exec \"$0\" worker --connect \"$1\" 2>/dev/null",
                     program, address}});
}

}  // namespace

absl::StatusOr<Json> PauseWorkers(const FaultOptions& options) {
  Json row = {{"fault", "paused"}, {"broken", Json::array()}};
  TemporaryDirectory folder;
  const std::string config = folder.path() + "/hone.toml";
  std::ofstream(config) << "[workers]\nlocal = false\nlease_seconds = "
                        << absl::ToInt64Seconds(kLease)
                        << "\n[limits]\nmax_running_tunings = "
                        << KernelLoad::kClients << "\n";
  DaemonProcess daemon({.arguments = {"--config", config}});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  FenceRecorder recorder(daemon.Connect());
  int64_t pauses = 0;
  KernelLoad load(daemon, options.paused_trials);
  {
    std::vector<std::unique_ptr<PausedWorker>> workers;
    for (uint64_t i = 0; i < kWorkers; ++i) {
      HONE_ASSIGN_OR_RETURN(const pid_t pid, StartWorker(recorder.address()));
      workers.push_back(
          std::make_unique<PausedWorker>(pid, 100 * options.seed + i));
    }
    const WorkerReleaser releaser(daemon);
    load.Run();
    for (const auto& worker : workers) pauses += worker->pauses();
  }
  const FenceRecorder::Counts counts = recorder.counts();
  load.Report(row);
  row["pauses"] = pauses;
  row["leases"] = counts.leases;
  row["results accepted"] = counts.accepted;
  row["results refused"] = counts.refused;
  row["stale results accepted"] = counts.stale;
  row["work with two results"] = counts.twice;
  const double expired = daemon.Metric("hone_leases_expired_total");
  row["leases expired"] = expired;
  // A few trials may all be lucky, or all lost three times.
  constexpr int64_t kEnough = 1000;
  if (options.paused_trials >= kEnough) {
    if (expired <= 0 || counts.refused == 0) {
      row["broken"].push_back("no worker came back after its lease");
    }
    if (load.failed() > load.succeeded()) {
      row["broken"].push_back("most tunings failed");
    }
  }
  if (counts.stale > 0) {
    row["broken"].push_back(absl::StrCat(counts.stale, " stale results"));
  }
  if (counts.twice > 0) {
    row["broken"].push_back(
        absl::StrCat(counts.twice, " pieces of work have two results"));
  }
  if (!daemon.IsAlive()) row["broken"].push_back("honed has ended");
  return row;
}

}  // namespace hone::bench

// Workers that are stopped at random moments and go on after their lease: no
// result under an expired lease is accepted, and all tunings end.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/longrunning/operations.grpc.pb.h"
#include <grpcpp/grpcpp.h>
#include <sys/wait.h>

#include "base/child_process.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/faults.h"
#include "bench/faults/fence_recorder.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/admin_service.grpc.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using google::longrunning::Operation;
using google::longrunning::Operations;

constexpr int kWorkers = 3;
constexpr int kClients = 2;
constexpr int64_t kTrials = 20;
constexpr absl::Duration kLease = absl::Seconds(1);
// Longer than any tuning takes that has a worker.
constexpr absl::Duration kPatience = absl::Minutes(10);

// A kernel; each `n` has another fingerprint.
std::string NumberedKernel(int64_t n) {
  return absl::StrCat(
      "HloModule m", n,
      "\n\nENTRY e {\n  x = f32[32,32] parameter(0)\n"
      "  c = f32[] constant(",
      n,
      ")\n  cs = f32[32,32] broadcast(c), dimensions={}\n"
      "  y = f32[32,32] multiply(x, cs)\n"
      "  ROOT d = f32[32,32] dot(x, y), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n}\n");
}

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

// Ends quarantines, as an administrator would who knows about the pauses.
void ReleaseWorkers(const DaemonProcess& daemon, const std::atomic<bool>& end) {
  const auto admin = v1::AdminService::NewStub(daemon.Connect());
  while (!end) {
    grpc::ClientContext context;
    v1::ListWorkersResponse workers;
    (void)admin->ListWorkers(&context, {}, &workers);
    for (const v1::Worker& worker : workers.workers()) {
      if (!worker.has_quarantine()) continue;
      v1::ReleaseWorkerRequest request;
      request.set_id(worker.id());
      grpc::ClientContext releasing;
      v1::Worker released;
      (void)admin->ReleaseWorker(&releasing, request, &released);
    }
    absl::SleepFor(absl::Milliseconds(100));
  }
}

struct Totals {
  std::atomic<int64_t> next_kernel = 0;
  std::atomic<int64_t> trials = 0;
  std::atomic<int64_t> succeeded = 0;
  std::atomic<int64_t> failed = 0;
  std::atomic<int64_t> endless = 0;
};

// Tunes one kernel to its end.
absl::Status TuneKernel(const DaemonProcess& daemon, Totals& totals) {
  const auto channel = daemon.Connect();
  const auto tunings = v1::TuningService::NewStub(channel);
  const auto operations = Operations::NewStub(channel);
  v1::TuneRequest request;
  request.mutable_module()->set_content(NumberedKernel(totals.next_kernel++));
  request.mutable_spec()->set_task("kernel");
  request.mutable_spec()->set_optimizer("random");
  request.mutable_spec()->mutable_budget()->set_trials(kTrials);
  Operation operation;
  grpc::ClientContext context;
  HONE_RETURN_IF_ERROR(ToStatus(tunings->Tune(&context, request, &operation)));
  google::longrunning::WaitOperationRequest wait;
  wait.set_name(operation.name());
  const absl::Time end = absl::Now() + kPatience;
  while (!operation.done() && absl::Now() < end) {
    grpc::ClientContext waiting;
    waiting.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    (void)operations->WaitOperation(&waiting, wait, &operation);
  }
  if (!operation.done()) {
    ++totals.endless;
    return absl::DeadlineExceededError("a tuning does not end");
  }
  ++(operation.has_error() ? totals.failed : totals.succeeded);
  v1::GetTuningRequest get;
  get.set_name(absl::StrCat(
      "tunings/", operation.name().substr(operation.name().find('/') + 1)));
  grpc::ClientContext getting;
  v1::Tuning tuning;
  HONE_RETURN_IF_ERROR(ToStatus(tunings->GetTuning(&getting, get, &tuning)));
  totals.trials += tuning.trials();
  return absl::OkStatus();
}

absl::StatusOr<pid_t> StartWorker(const std::string& address) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").string();
  // What it says of lost leases is not of interest.
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
                        << "\n[limits]\nmax_running_tunings = " << kClients
                        << "\n";
  DaemonProcess daemon({.arguments = {"--config", config}});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  FenceRecorder recorder(daemon.Connect());
  Totals totals;
  std::atomic<bool> end = false;
  int64_t pauses = 0;
  std::vector<absl::Status> errors(kClients);
  {
    std::vector<std::unique_ptr<PausedWorker>> workers;
    for (uint64_t i = 0; i < kWorkers; ++i) {
      HONE_ASSIGN_OR_RETURN(const pid_t pid, StartWorker(recorder.address()));
      workers.push_back(
          std::make_unique<PausedWorker>(pid, 100 * options.seed + i));
    }
    std::thread releaser([&] { ReleaseWorkers(daemon, end); });
    std::vector<std::thread> clients;
    for (absl::Status& error : errors) {
      clients.emplace_back([&] {
        while (error.ok() && totals.trials < options.paused_trials) {
          error = TuneKernel(daemon, totals);
        }
      });
    }
    for (std::thread& client : clients) client.join();
    end = true;
    releaser.join();
    for (const auto& worker : workers) pauses += worker->pauses();
  }
  const FenceRecorder::Counts counts = recorder.counts();
  row["trials"] = totals.trials.load();
  row["tunings that succeeded"] = totals.succeeded.load();
  row["tunings that failed"] = totals.failed.load();
  row["pauses"] = pauses;
  row["leases"] = counts.leases;
  row["results accepted"] = counts.accepted;
  row["results refused"] = counts.refused;
  row["stale results accepted"] = counts.stale;
  row["work with two results"] = counts.twice;
  row["leases expired"] = daemon.Metric("hone_leases_expired_total");
  for (const absl::Status& error : errors) {
    if (!error.ok()) row["broken"].push_back(error.message());
  }
  if (totals.endless == 0 && totals.succeeded == 0) {
    row["broken"].push_back("no tuning succeeded");
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

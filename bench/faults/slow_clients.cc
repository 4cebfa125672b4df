// Clients that connect, send a part of what they should, and then stall, each
// on a connection of its own: others are served as if these were not there, and
// once they are gone nothing of them stays.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include <grpcpp/grpcpp.h>

#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/documented_status.h"
#include "bench/faults/faults.h"
#include "bench/faults/good_modules.h"
#include "bench/faults/health_watch.h"
#include "bench/faults/modules.h"
#include "bench/faults/slow_call.h"
#include "bench/faults/slow_connection.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/module_service.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// Longer than any correct daemon needs, on any machine.
constexpr absl::Duration kPatience = absl::Minutes(1);
// Good modules that are tuned beside the slow clients.
constexpr int64_t kGoodModules = 200;
constexpr char kUpload[] = "/hone.v1.ModuleService/Upload";
constexpr char kWatch[] = "/hone.v1.TuningService/WatchTuning";

template <typename Condition>
bool WaitUntil(Condition condition) {
  const absl::Time end = absl::Now() + kPatience;
  while (!condition()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(50));
  }
  return true;
}

int64_t OpenFiles(const DaemonProcess& daemon) {
  std::error_code error;
  return std::distance(std::filesystem::directory_iterator(
                           absl::StrCat("/proc/", daemon.pid(), "/fd"), error),
                       {});
}

// The slow clients, of five kinds.
class SlowClients {
 public:
  // `operation` names a tuning that runs.
  SlowClients(const DaemonProcess& daemon, const std::string& operation,
              int64_t count) {
    int port = 0;
    const std::vector<std::string> address =
        absl::StrSplit(daemon.address(), ':');
    (void)absl::SimpleAtoi(address.back(), &port);
    v1::UploadRequest upload;
    upload.mutable_header()->set_digest(std::string(64, 'a'));
    upload.mutable_header()->set_size_bytes(1 << 20);
    v1::WatchTuningRequest watch;
    watch.set_name(
        absl::StrReplaceAll(operation, {{"/operations/", "/tunings/"}}));
    const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    // A frame SETTINGS without any.
    const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
    for (int64_t i = 0; i < count; ++i) {
      switch (i % 5) {
        case 0:
          connections_.push_back(std::make_unique<SlowConnection>(port, "P"));
          break;
        case 1:
          connections_.push_back(
              std::make_unique<SlowConnection>(port, preface + settings));
          break;
        case 2:
          // And a part of a frame of headers.
          connections_.push_back(std::make_unique<SlowConnection>(
              port, preface + settings + std::string("\0\1\0\1\4", 5)));
          break;
        case 3:
          calls_.push_back(std::make_unique<SlowCall>(
              daemon.Connect(), kUpload, upload.SerializeAsString()));
          break;
        default:
          calls_.push_back(std::make_unique<SlowCall>(
              daemon.Connect(), kWatch, watch.SerializeAsString()));
          break;
      }
    }
  }

  // Adds the calls that the daemon has refused to a row.
  void Report(Json& row) const {
    std::map<std::string, int64_t> codes;
    std::map<std::string, int64_t> bad;
    for (const auto& call : calls_) {
      const std::optional<grpc::Status> end = call->end();
      if (!end) continue;
      ++codes[absl::StrCat(end->error_code())];
      if (!IsDocumented(*end)) ++bad[end->error_message().substr(0, 200)];
    }
    row["slow calls refused, by code"] = codes;
    for (const auto& [message, n] : bad) {
      row["broken"].push_back(
          absl::StrCat(n, " slow calls end without a reason: ", message));
    }
  }

 private:
  std::vector<std::unique_ptr<SlowConnection>> connections_;
  std::vector<std::unique_ptr<SlowCall>> calls_;
};

}  // namespace

absl::StatusOr<Json> StallClients(const FaultOptions& options) {
  Json row = {{"fault", "slow-clients"}, {"broken", Json::array()}};
  // One to be watched all the time, and one after the other of others.
  const TemporaryDirectory folder;
  const std::string config = folder.path() + "/hone.toml";
  std::ofstream(config) << "[limits]\nmax_running_tunings = 2\n";
  // A soft limit of files far below what it needs, as a shell may have.
  DaemonProcess daemon({.arguments = {"--config", config},
                        .wrapper = {"prlimit", "--nofile=64:"}});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HealthWatch health(daemon);
  v1::TuneRequest tune;
  tune.mutable_module()->set_content(NumberedModule(0));
  tune.mutable_spec()->set_optimizer("random");
  tune.mutable_spec()->mutable_budget()->set_trials(1'000'000'000);
  google::longrunning::Operation operation;
  {
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(ToStatus(v1::TuningService::NewStub(daemon.Connect())
                                      ->Tune(&context, tune, &operation)));
  }
  // Other connections of this bench come and go, too.
  constexpr int64_t kOthers = 8;
  const int64_t files = OpenFiles(daemon);
  const int64_t memory = daemon.ResidentBytes();
  {
    const SlowClients clients(daemon, operation.name(), options.stalled);
    if (!WaitUntil([&] {
          return OpenFiles(daemon) >= files + options.stalled - kOthers;
        })) {
      row["broken"].push_back(
          absl::StrCat("honed has ", OpenFiles(daemon) - files,
                       " of their connections: ", daemon.Errors()));
    }
    row["slow clients"] = options.stalled;
    row["files of honed with them"] = OpenFiles(daemon);
    row["MiB with them"] = daemon.ResidentBytes() >> 20;
    if (const absl::Status good = CompileGoodModules(daemon, kGoodModules);
        !good.ok()) {
      row["broken"].push_back(
          absl::StrCat("a good module is not compiled: ", good.message()));
    }
    health.Report(row);
    clients.Report(row);
  }
  if (!WaitUntil([&] { return OpenFiles(daemon) <= files + kOthers; })) {
    row["broken"].push_back("files of clients that are gone stay open");
  }
  row["files of honed before and after"] = {files, OpenFiles(daemon)};
  row["MiB before and after"] = {memory >> 20, daemon.ResidentBytes() >> 20};
  if (!WaitUntil([&] {
        return daemon.Metric("hone_rpc_in_flight{", "WorkerService") == 0;
      })) {
    row["broken"].push_back("calls of clients that are gone stay open");
  }
  if (!daemon.IsAlive()) {
    row["broken"].push_back("honed has ended");
  } else if (const auto exit = daemon.Terminate(); exit.status != 0) {
    row["broken"].push_back(absl::StrCat("exit status ", exit.status));
  }
  return row;
}

}  // namespace hone::bench

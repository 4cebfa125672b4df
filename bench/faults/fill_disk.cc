// A full disk under load, again and again: lookups go on, nothing that was
// acknowledged is lost, and the daemon stores again once there is space.

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/faults/faults.h"
#include "bench/faults/methods.h"
#include "bench/faults/modules.h"
#include "bench/faults/small_disk.h"
#include "bench/faults/tuning_load.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/tuning_service.grpc.pb.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// Longer than any correct daemon needs, on any machine.
constexpr absl::Duration kPatience = absl::Minutes(2);

// honed takes its reserve of 16 MiB if twice that is free.
constexpr int64_t kDiskBytes = int64_t{64} << 20;
// For the results of the load.
constexpr int64_t kDiskBytesPerFill = int64_t{16} << 20;

template <typename Condition>
bool WaitUntil(Condition condition) {
  const absl::Time end = absl::Now() + kPatience;
  while (!condition()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(50));
  }
  return true;
}

// Returns true if grpc.health.v1 says that tunings are served.
bool ServesTunings(const DaemonProcess& daemon) {
  grpc::GenericStub stub(daemon.Connect());
  grpc::ClientContext context;
  const std::string service = "hone.v1.TuningService";
  const std::string request = absl::StrCat(
      "\x0a", std::string(1, static_cast<char>(service.size())), service);
  std::string answer;
  return CallMethod(stub, context, "/grpc.health.v1.Health/Check", {request},
                    &answer)
             .ok() &&
         answer == "\x08\x01";
}

grpc::Status TuneOnce(const DaemonProcess& daemon, Rng& rng) {
  const auto stub = v1::TuningService::NewStub(daemon.Connect());
  v1::TuneRequest request;
  request.mutable_module()->set_content(
      NumberedModule(-static_cast<int64_t>(1 + rng.Below(1 << 30))));
  request.mutable_spec()->set_optimizer("random");
  request.mutable_spec()->mutable_budget()->set_trials(1);
  google::longrunning::Operation operation;
  grpc::ClientContext context;
  return stub->Tune(&context, request, &operation);
}

// Makes the disk of a daemon full, and not full.
class Filler {
 public:
  virtual ~Filler() = default;
  virtual absl::Status Fill(Rng& rng) = 0;
  virtual void Free() = 0;
};

class DiskFiller final : public Filler {
 public:
  explicit DiskFiller(SmallDisk& disk) : disk_(disk) {}
  absl::Status Fill(Rng& rng) override {
    return disk_.Fill(static_cast<int64_t>(rng.Below(1 << 20)));
  }
  void Free() override { disk_.Free(); }

 private:
  SmallDisk& disk_;
};

// A limit of file sizes, which needs no privilege.
class LimitFiller final : public Filler {
 public:
  explicit LimitFiller(const DaemonProcess& daemon) : daemon_(daemon) {}
  absl::Status Fill(Rng& rng) override {
    return Set(4096 * (1 + rng.Below(20)));
  }
  void Free() override { (void)Set(RLIM_INFINITY); }

 private:
  absl::Status Set(rlim_t bytes) {
    const rlimit limit = {bytes, RLIM_INFINITY};
    if (prlimit(daemon_.pid(), RLIMIT_FSIZE, &limit, nullptr) == 0) {
      return absl::OkStatus();
    }
    return absl::InternalError("cannot limit the files of honed");
  }

  const DaemonProcess& daemon_;
};

// One time of a full disk. Sentences of what went wrong go to `broken`.
absl::Status FillOnce(const DaemonProcess& daemon, TuningLoad& load,
                      Filler& filler, Rng& rng, int64_t& lookups,
                      Json& broken) {
  const size_t enough = load.published().size() + 5;
  if (!WaitUntil([&] { return load.published().size() >= enough; })) {
    broken.push_back("no tuning ended, with space");
  }
  HONE_RETURN_IF_ERROR(filler.Fill(rng));
  if (!WaitUntil([&] { return daemon.Metric("hone_db_writable") == 0; })) {
    broken.push_back("hone_db_writable stayed 1 on a full disk");
  }
  if (!WaitUntil([&] { return !ServesTunings(daemon); })) {
    broken.push_back("health stayed SERVING on a full disk");
  }
  // What fits beside the last result may still be accepted.
  if (!WaitUntil([&] {
        return TuneOnce(daemon, rng).error_code() ==
               grpc::StatusCode::RESOURCE_EXHAUSTED;
      })) {
    broken.push_back("tunings are not refused on a full disk");
  }
  lookups += static_cast<int64_t>(load.published().size());
  if (const TuningLoad::Lost lost = load.FindLost(); lost.count > 0) {
    broken.push_back(absl::StrCat(
        lost.count, " lookups failed on a full disk: ", lost.error));
  }
  filler.Free();
  if (!WaitUntil([&] { return daemon.Metric("hone_db_writable") == 1; })) {
    broken.push_back("hone_db_writable stayed 0 after space was freed");
  }
  if (!WaitUntil([&] { return ServesTunings(daemon); })) {
    broken.push_back("health stayed NOT_SERVING after space was freed");
  }
  return absl::OkStatus();
}

// `row` gets the figures of all times.
absl::Status FillOften(DaemonProcess& daemon, Filler& filler, int64_t times,
                       uint64_t seed, Json& row) {
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  Rng rng(seed);
  TuningLoad load(daemon);
  int64_t lookups = 0;
  for (int64_t i = 0; i < times && row["broken"].empty(); ++i) {
    HONE_RETURN_IF_ERROR(
        FillOnce(daemon, load, filler, rng, lookups, row["broken"]));
  }
  // The last time, it also ends and starts on the full disk.
  HONE_RETURN_IF_ERROR(filler.Fill(rng));
  (void)WaitUntil([&] { return daemon.Metric("hone_db_writable") == 0; });
  daemon.Kill();
  const absl::Status start = daemon.Start().status();
  if (!start.ok()) {
    row["broken"].push_back(
        absl::StrCat("no start after a full disk: ", start.message()));
    filler.Free();
    HONE_RETURN_IF_ERROR(daemon.Start().status());
  }
  filler.Free();
  load.Stop();
  row["times full"] = times + 1;
  row["lookups while full"] = lookups;
  return load.Compare(row);
}

}  // namespace

absl::StatusOr<Json> FillDisk(const FaultOptions& options) {
  Json row = {{"fault", "full-disk"}, {"broken", Json::array()}};
  const auto disk =
      SmallDisk::Create(kDiskBytes + options.fills * kDiskBytesPerFill);
  if (disk.ok()) {
    DaemonProcess daemon(
        {.wrapper = (*disk)->wrapper(), .state = (*disk)->path() + "/state"});
    DiskFiller filler(**disk);
    row["disk"] = "a filesystem of its own";
    HONE_RETURN_IF_ERROR(
        FillOften(daemon, filler, options.fills, options.seed, row));
  } else {
    DaemonProcess daemon;
    LimitFiller filler(daemon);
    row["disk"] = "a limit of file sizes";
    HONE_RETURN_IF_ERROR(
        FillOften(daemon, filler, options.fills, options.seed, row));
  }
  return row;
}

}  // namespace hone::bench

// Calls of all kinds that are cancelled at random moments: nothing is left of
// them.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/faults/faults.h"
#include "bench/faults/methods.h"
#include "bench/faults/modules.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/cache_service.pb.h"
#include "hone/v1/compile_service.pb.h"
#include "hone/v1/environment_service.pb.h"
#include "hone/v1/tuning_service.pb.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kClients = 8;

constexpr char kOpen[] = "/hone.v1.EnvironmentService/OpenEnvironment";
constexpr char kClose[] = "/hone.v1.EnvironmentService/Close";

struct Request {
  std::string path;
  std::string message;
};

std::vector<Request> Requests() {
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint(std::string(64, 'a'));
  v1::ListTuningsRequest list;
  v1::CompileRequest compile;
  compile.mutable_module()->set_content(NumberedModule(1));
  compile.mutable_patience()->set_seconds(10);
  v1::TuningSpec& spec = *compile.add_specs();
  spec.set_optimizer("random");
  spec.mutable_budget()->set_trials(1'000'000'000);
  v1::TuneRequest tune;
  tune.mutable_module()->set_content(NumberedModule(1));
  *tune.mutable_spec() = spec;
  v1::OpenEnvironmentRequest open;
  open.mutable_module()->set_content(NumberedModule(2));
  return {
      {"/hone.v1.CacheService/Lookup", lookup.SerializeAsString()},
      {"/hone.v1.TuningService/ListTunings", list.SerializeAsString()},
      {"/hone.v1.CompileService/Compile", compile.SerializeAsString()},
      {"/hone.v1.TuningService/Tune", tune.SerializeAsString()},
      {kOpen, open.SerializeAsString()},
      {"/hone.v1.AdminService/ListWorkers", ""},
  };
}

// Closes the environment of a call that was given up: repeats the request,
// whose id tells the daemon that it is the same, also while too many
// repetitions wait for their first request (OVERLOADED).
bool CloseOpened(grpc::GenericStub& stub, const std::string& request) {
  std::string answer;
  grpc::Status status;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    grpc::ClientContext repeating;
    status = CallMethod(stub, repeating, kOpen, {request}, &answer);
    if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) break;
    absl::SleepFor(absl::Milliseconds(10));
  }
  v1::OpenEnvironmentResponse opened;
  if (!status.ok() || !opened.ParseFromString(answer)) return false;
  v1::CloseRequest close;
  close.set_name(opened.environment().name());
  grpc::ClientContext closing;
  return CallMethod(stub, closing, kClose, {close.SerializeAsString()}).ok();
}

struct Counts {
  std::atomic<int64_t> sent = 0;
  std::atomic<int64_t> cut = 0;       // before their answer
  std::atomic<int64_t> unclosed = 0;  // environments
};

// Sends calls until so many are cut off.
void CancelMany(const DaemonProcess& daemon, int64_t count, uint64_t seed,
                Counts& counts) {
  const std::vector<Request> requests = Requests();
  std::vector<std::thread> clients;
  for (uint64_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      grpc::GenericStub stub(daemon.Connect());
      Rng rng(seed * 100 + client);
      // The longest deadlines, in µs, by request: such that half of the calls
      // are cut off, whatever the machine.
      std::vector<double> longest(requests.size(), 1000);
      for (int64_t i = 0; counts.cut < count; ++i) {
        const size_t kind = rng.Below(requests.size());
        const Request& request = requests[kind];
        grpc::ClientContext context;
        // From before the call is there until after most have their answer.
        context.set_deadline(std::chrono::system_clock::now() +
                             std::chrono::microseconds(rng.Below(
                                 static_cast<uint64_t>(longest[kind]) + 1)));
        std::string message = request.message;
        if (request.path == kOpen) {
          v1::OpenEnvironmentRequest open;
          open.ParseFromString(message);
          open.set_request_id(absl::StrCat(seed, "/", client, "/", i));
          message = open.SerializeAsString();
        }
        ++counts.sent;
        const bool is_cut =
            CallMethod(stub, context, request.path, {message}).error_code() ==
            grpc::StatusCode::DEADLINE_EXCEEDED;
        counts.cut += is_cut;
        longest[kind] =
            std::clamp(longest[kind] * (is_cut ? 1.02 : 0.98), 50.0, 100'000.0);
        if (request.path == kOpen)
          counts.unclosed += !CloseOpened(stub, message);
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

}  // namespace

absl::StatusOr<Json> CancelCalls(const FaultOptions& options) {
  Json row = {{"fault", "cancel"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  // Until all pools and caches have their size: of the answers to requests with
  // an id, 4096 are kept.
  Counts first;
  CancelMany(daemon, std::max<int64_t>(2000, options.cancellations),
             options.seed + 1, first);
  const int64_t before = daemon.ResidentBytes();
  Counts second;
  CancelMany(daemon, options.cancellations, options.seed, second);
  const int64_t unclosed = first.unclosed + second.unclosed;
  const int64_t after = daemon.ResidentBytes();
  row["calls"] = second.sent.load();
  row["cancelled calls"] = second.cut.load();
  row["MiB before"] = before >> 20;
  row["MiB after"] = after >> 20;
  const double growth =
      static_cast<double>(after - before) / static_cast<double>(before);
  row["growth, %"] = 100 * growth;
  // Idle calls of workers stay. Of the last ones, some may still be at their
  // end.
  double in_flight = -1;
  for (int i = 0; i < 300 && in_flight != 0; ++i) {
    in_flight = daemon.Metric("hone_rpc_in_flight{", "WorkerService");
    if (in_flight != 0) absl::SleepFor(absl::Milliseconds(100));
  }
  row["calls left"] = in_flight;
  const double environments = daemon.Metric("hone_environments_open ");
  row["environments left"] = environments;
  if (unclosed > 0) {
    row["broken"].push_back(
        absl::StrCat(unclosed, " environments could not be closed"));
  }
  if (environments != 0) {
    row["broken"].push_back("environments were never closed");
  }
  if (in_flight != 0) row["broken"].push_back("calls were never ended");
  // Few calls do not fill all caches.
  const double most = options.cancellations >= 100'000 ? 0.01 : 0.2;
  if (growth > most) {
    row["broken"].push_back(
        absl::StrCat("memory grew by more than ", 100 * most, " %"));
  }
  const DaemonProcess::End end = daemon.Terminate();
  row["exit status"] = end.status;
  if (end.status != 0) row["broken"].push_back("honed did not end well");
  return row;
}

}  // namespace hone::bench

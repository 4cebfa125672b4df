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
// whose id tells the daemon that it is the same.
bool CloseOpened(grpc::GenericStub& stub, const std::string& request) {
  grpc::ClientContext repeating;
  std::string answer;
  v1::OpenEnvironmentResponse opened;
  if (!CallMethod(stub, repeating, kOpen, {request}, &answer).ok() ||
      !opened.ParseFromString(answer)) {
    return false;
  }
  v1::CloseRequest close;
  close.set_name(opened.environment().name());
  grpc::ClientContext closing;
  return CallMethod(stub, closing, kClose, {close.SerializeAsString()}).ok();
}

// Returns the number of environments that could not be closed.
int64_t CancelMany(const DaemonProcess& daemon, int64_t count, uint64_t seed) {
  const std::vector<Request> requests = Requests();
  std::atomic<int64_t> unclosed = 0;
  std::vector<std::thread> clients;
  for (uint64_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      grpc::GenericStub stub(daemon.Connect());
      Rng rng(seed * 100 + client);
      for (auto i = static_cast<int64_t>(client); i < count; i += kClients) {
        const Request& request = requests[rng.Below(requests.size())];
        grpc::ClientContext context;
        // From before the call is there until after most have their answer.
        context.set_deadline(std::chrono::system_clock::now() +
                             std::chrono::microseconds(rng.Below(4000)));
        std::string message = request.message;
        if (request.path == kOpen) {
          v1::OpenEnvironmentRequest open;
          open.ParseFromString(message);
          open.set_request_id(absl::StrCat(seed, "/", i));
          message = open.SerializeAsString();
        }
        (void)CallMethod(stub, context, request.path, {message});
        if (request.path == kOpen) unclosed += !CloseOpened(stub, message);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  return unclosed;
}

}  // namespace

absl::StatusOr<Json> CancelCalls(const FaultOptions& options) {
  Json row = {{"fault", "cancel"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  // Until all pools and caches have their size: of the answers to requests with
  // an id, 4096 are kept.
  int64_t unclosed = CancelMany(
      daemon, std::max<int64_t>(2000, options.cancellations), options.seed + 1);
  const int64_t before = daemon.ResidentBytes();
  unclosed += CancelMany(daemon, options.cancellations, options.seed);
  const int64_t after = daemon.ResidentBytes();
  row["cancelled calls"] = options.cancellations;
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
  if (options.cancellations >= 100'000 && growth > 0.01) {
    row["broken"].push_back("memory grew by more than 1 %");
  }
  const DaemonProcess::End end = daemon.Terminate();
  row["exit status"] = end.status;
  if (end.status != 0) row["broken"].push_back("honed did not end well");
  return row;
}

}  // namespace hone::bench

// SIGTERM while calls are in flight and HTTP clients are slow: all get a status
// that says so, and the daemon ends within its grace.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/time/clock.h"
#include "google/longrunning/operations.grpc.pb.h"
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/status_macros.h"
#include "bench/faults/faults.h"
#include "bench/faults/methods.h"
#include "bench/faults/modules.h"
#include "bench/faults/slow_connection.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/compile_service.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// honed's default, and a second for the ends of processes.
constexpr absl::Duration kGrace = absl::Seconds(11);

}  // namespace

absl::StatusOr<Json> DrainUnderLoad(const FaultOptions& options) {
  Json row = {{"fault", "drain"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  const auto channel = daemon.Connect();
  v1::TuneRequest tune;
  tune.mutable_module()->set_content(NumberedModule(1));
  tune.mutable_spec()->set_optimizer("random");
  tune.mutable_spec()->mutable_budget()->set_trials(1'000'000'000);
  google::longrunning::Operation operation;
  {
    const auto stub = v1::TuningService::NewStub(channel);
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(ToStatus(stub->Tune(&context, tune, &operation)));
  }
  v1::CompileRequest compile;
  *compile.mutable_module() = tune.module();
  *compile.add_specs() = tune.spec();
  compile.mutable_patience()->set_seconds(600);
  google::longrunning::WaitOperationRequest wait;
  wait.set_name(operation.name());
  v1::WatchTuningRequest watch;
  watch.set_name(
      absl::StrReplaceAll(operation.name(), {{"/operations/", "/tunings/"}}));
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"/hone.v1.CompileService/Compile", compile.SerializeAsString()},
      {"/google.longrunning.Operations/WaitOperation",
       wait.SerializeAsString()},
      {"/hone.v1.TuningService/WatchTuning", watch.SerializeAsString()}};

  std::vector<std::unique_ptr<SlowConnection>> slow;
  for (int64_t i = 0; i < options.slow_clients; ++i) {
    slow.push_back(std::make_unique<SlowConnection>(daemon.http_port(), "G"));
  }
  const auto count = static_cast<size_t>(options.calls);
  std::vector<grpc::Status> ends(count);
  std::vector<std::thread> calls;
  for (size_t i = 0; i < count; ++i) {
    calls.emplace_back([&, i] {
      grpc::GenericStub stub(channel);
      grpc::ClientContext context;
      const auto& [path, message] = requests[i % requests.size()];
      ends[i] = CallMethod(stub, context, path, {message});
    });
  }
  const absl::Time patience = absl::Now() + absl::Minutes(1);
  double in_flight = 0;
  while (in_flight < static_cast<double>(count) && absl::Now() < patience) {
    absl::SleepFor(absl::Milliseconds(50));
    in_flight = daemon.Metric("hone_rpc_in_flight{", "WorkerService");
  }
  if (in_flight < static_cast<double>(count)) {
    row["broken"].push_back(
        absl::StrCat("only ", in_flight, " calls were in flight"));
  }
  const DaemonProcess::End end = daemon.Terminate();
  for (std::thread& call : calls) call.join();
  std::map<std::string, int64_t> codes;
  int64_t bad = 0;
  for (const grpc::Status& status : ends) {
    ++codes[absl::StrCat(status.error_code())];
    bad += status.error_code() == grpc::StatusCode::UNKNOWN ||
           status.error_code() == grpc::StatusCode::INTERNAL;
  }
  row["calls in flight"] = options.calls;
  row["slow HTTP clients"] = options.slow_clients;
  row["answers by code"] = codes;
  row["exit status"] = end.status;
  row["seconds to the end"] = absl::ToDoubleSeconds(end.took);
  if (bad > 0) {
    row["broken"].push_back(
        absl::StrCat(bad, " calls ended UNKNOWN or INTERNAL"));
  }
  if (end.status != 0) row["broken"].push_back("exit status is not 0");
  if (end.took > kGrace) row["broken"].push_back("took longer than its grace");
  return row;
}

}  // namespace hone::bench

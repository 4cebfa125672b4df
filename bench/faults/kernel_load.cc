#include "bench/faults/kernel_load.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "google/longrunning/operations.grpc.pb.h"
#include <grpcpp/grpcpp.h>

#include "base/status_macros.h"
#include "bench/faults/modules.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

using google::longrunning::Operation;
using google::longrunning::Operations;

constexpr int64_t kTrials = 20;
// Longer than any tuning takes that has a worker.
constexpr absl::Duration kPatience = absl::Minutes(10);

}  // namespace

void KernelLoad::Run() {
  std::vector<std::thread> clients;
  for (absl::Status& error : errors_) {
    clients.emplace_back([&] {
      while (error.ok() && trials_ < trials_wanted_) error = Tune();
    });
  }
  for (std::thread& client : clients) client.join();
}

absl::Status KernelLoad::Tune() {
  const auto channel = daemon_.Connect();
  const auto tunings = v1::TuningService::NewStub(channel);
  const auto operations = Operations::NewStub(channel);
  v1::TuneRequest request;
  request.mutable_module()->set_content(NumberedKernel(next_kernel_++));
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
    return absl::DeadlineExceededError("a tuning does not end");
  }
  ++(operation.has_error() ? failed_ : succeeded_);
  v1::GetTuningRequest get;
  get.set_name(
      absl::StrReplaceAll(operation.name(), {{"/operations/", "/tunings/"}}));
  grpc::ClientContext getting;
  v1::Tuning tuning;
  HONE_RETURN_IF_ERROR(ToStatus(tunings->GetTuning(&getting, get, &tuning)));
  trials_ += tuning.trials();
  return absl::OkStatus();
}

void KernelLoad::Report(nlohmann::ordered_json& row) const {
  row["trials"] = trials_.load();
  row["tunings that succeeded"] = succeeded_.load();
  row["tunings that failed"] = failed_.load();
  for (const absl::Status& error : errors_) {
    if (!error.ok()) row["broken"].push_back(error.message());
  }
}

}  // namespace hone::bench

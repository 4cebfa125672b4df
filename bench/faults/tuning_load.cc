#include "bench/faults/tuning_load.h"

#include <chrono>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/longrunning/operations.grpc.pb.h"

#include "base/status_macros.h"
#include "bench/faults/modules.h"
#include "hone/v1/cache_service.grpc.pb.h"
#include "hone/v1/module_service.grpc.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using google::longrunning::Operation;
using google::longrunning::Operations;

constexpr int kClients = 4;
constexpr int64_t kTrials = 5;

void SetPatience(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  // A call that fails at once polls nothing, so its channel stays unconnected
  // until gRPC's background poller comes by, seconds later.
  context.set_wait_for_ready(true);
}

}  // namespace

TuningLoad::TuningLoad(const DaemonProcess& daemon) : daemon_(daemon) {
  for (int i = 0; i < kClients; ++i) {
    clients_.emplace_back([this] { Tune(); });
  }
}

void TuningLoad::Stop() {
  end_ = true;
  for (std::thread& client : clients_) client.join();
  clients_.clear();
}

std::set<std::string> TuningLoad::accepted() {
  absl::MutexLock lock(&mu_);
  return accepted_;
}

std::map<std::string, v1::Record> TuningLoad::published() {
  absl::MutexLock lock(&mu_);
  return published_;
}

std::map<std::string, int64_t> TuningLoad::codes() {
  absl::MutexLock lock(&mu_);
  return codes_;
}

void TuningLoad::Count(int code) {
  absl::MutexLock lock(&mu_);
  ++codes_[absl::StrCat(code)];
}

void TuningLoad::Tune() {
  const auto channel = daemon_.Connect();
  while (!end_) TuneModule(channel);
}

void TuningLoad::TuneModule(const std::shared_ptr<grpc::Channel>& channel) {
  const auto tunings = v1::TuningService::NewStub(channel);
  const auto operations = Operations::NewStub(channel);
  v1::TuneRequest request;
  request.mutable_module()->set_content(NumberedModule(next_module_++));
  request.mutable_spec()->set_optimizer("random");
  request.mutable_spec()->mutable_budget()->set_trials(kTrials);
  while (!end_) {
    Operation operation;
    grpc::ClientContext context;
    SetPatience(context);
    grpc::Status status = tunings->Tune(&context, request, &operation);
    if (!status.ok()) {
      Count(status.error_code());
      absl::SleepFor(absl::Milliseconds(5));
      continue;
    }
    {
      absl::MutexLock lock(&mu_);
      accepted_.insert(operation.name());
    }
    google::longrunning::WaitOperationRequest wait;
    wait.set_name(operation.name());
    grpc::ClientContext waiting;
    SetPatience(waiting);
    ++running_;
    status = operations->WaitOperation(&waiting, wait, &operation);
    --running_;
    if (!status.ok()) Count(status.error_code());
    if (!status.ok() || !operation.done()) continue;
    v1::TuneResponse response;
    if (operation.has_error()) {
      Count(operation.error().code());
    } else if (operation.response().UnpackTo(&response)) {
      absl::MutexLock lock(&mu_);
      published_[response.record().key().module_fingerprint()] =
          response.record();
    }
    return;
  }
}

TuningLoad::Lost TuningLoad::FindLost() {
  const auto cache = v1::CacheService::NewStub(daemon_.Connect());
  Lost lost;
  for (const auto& [fingerprint, record] : published()) {
    v1::LookupRequest request;
    request.set_module_fingerprint(fingerprint);
    v1::LookupResponse response;
    grpc::ClientContext context;
    const grpc::Status status = cache->Lookup(&context, request, &response);
    if (!status.ok()) {
      ++lost.count;
      lost.error = status.error_message();
    } else if (response.record().best_cost() > record.best_cost() ||
               response.record().tuned_module_digest().empty()) {
      ++lost.count;
      lost.error = "another record";
    }
  }
  return lost;
}

absl::StatusOr<int64_t> TuningLoad::CountMissingModules() {
  const auto modules = v1::ModuleService::NewStub(daemon_.Connect());
  constexpr int kDigests = 1000;
  v1::QueryModulesRequest request;
  int64_t missing = 0;
  const auto ask = [&]() -> absl::Status {
    v1::QueryModulesResponse response;
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(
        ToStatus(modules->QueryModules(&context, request, &response)));
    missing += response.missing_size();
    request.clear_digests();
    return absl::OkStatus();
  };
  for (const auto& [_, record] : published()) {
    request.add_digests(record.tuned_module_digest());
    if (request.digests_size() == kDigests) HONE_RETURN_IF_ERROR(ask());
  }
  HONE_RETURN_IF_ERROR(ask());
  return missing;
}

absl::StatusOr<int64_t> TuningLoad::CountTunedTwice() {
  const auto tunings = v1::TuningService::NewStub(daemon_.Connect());
  std::set<std::string> tuned;
  int64_t twice = 0;
  v1::ListTuningsRequest request;
  request.add_states(v1::Tuning::SUCCEEDED);
  do {
    v1::ListTuningsResponse page;
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(
        ToStatus(tunings->ListTunings(&context, request, &page)));
    for (const v1::Tuning& tuning : page.tunings()) {
      twice += !tuned.insert(tuning.key().SerializeAsString()).second;
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return twice;
}

absl::Status TuningLoad::Compare(Json& row) {
  const auto channel = daemon_.Connect();
  const auto operations = Operations::NewStub(channel);
  const Lost lost = FindLost();
  int64_t forgotten = 0;
  const auto all_accepted = accepted();
  for (const std::string& name : all_accepted) {
    google::longrunning::GetOperationRequest request;
    request.set_name(name);
    Operation operation;
    grpc::ClientContext context;
    forgotten += !operations->GetOperation(&context, request, &operation).ok();
  }
  HONE_ASSIGN_OR_RETURN(const int64_t missing, CountMissingModules());
  HONE_ASSIGN_OR_RETURN(const int64_t twice, CountTunedTwice());
  row["results acknowledged"] = published().size();
  row["results lost"] = lost.count;
  row["tunings accepted"] = all_accepted.size();
  row["tunings forgotten"] = forgotten;
  row["tuned modules missing"] = missing;
  row["modules tuned twice"] = twice;
  row["errors by code"] = codes();
  if (lost.count > 0) {
    row["broken"].push_back(
        absl::StrCat(lost.count, " acknowledged results lost: ", lost.error));
  }
  if (forgotten > 0) {
    row["broken"].push_back(absl::StrCat(forgotten, " tunings forgotten"));
  }
  if (missing > 0) {
    row["broken"].push_back(absl::StrCat(missing, " tuned modules missing"));
  }
  if (twice > 0) {
    row["broken"].push_back(absl::StrCat(twice, " modules were tuned twice"));
  }
  if (published().empty()) {
    row["broken"].push_back("no result was acknowledged");
  }
  return absl::OkStatus();
}

}  // namespace hone::bench

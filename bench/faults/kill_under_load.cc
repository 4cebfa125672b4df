// kill -9 at random moments while clients tune: nothing that was acknowledged
// is lost, nothing is there twice, and the next start is fast.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "google/longrunning/operations.grpc.pb.h"
#include <grpcpp/grpcpp.h>

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/faults/faults.h"
#include "bench/faults/modules.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/cache_service.grpc.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using google::longrunning::Operation;
using google::longrunning::Operations;

constexpr int kClients = 4;
constexpr int64_t kTrials = 5;

// What the daemon has told its clients.
class Ledger {
 public:
  void Accepted(const std::string& tuning) {
    absl::MutexLock lock(&mu_);
    accepted_.insert(tuning);
  }
  void Published(const v1::Record& record) {
    absl::MutexLock lock(&mu_);
    published_[record.key().module_fingerprint()] = record;
  }
  std::set<std::string> accepted() {
    absl::MutexLock lock(&mu_);
    return accepted_;
  }
  std::map<std::string, v1::Record> published() {
    absl::MutexLock lock(&mu_);
    return published_;
  }

 private:
  absl::Mutex mu_;
  std::set<std::string> accepted_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::Record> published_ ABSL_GUARDED_BY(mu_);
};

// Tunes one module after the other until `end`, starting again what a kill
// broke off.
void Load(const DaemonProcess& daemon, std::atomic<int64_t>& next_module,
          const std::atomic<bool>& end, Ledger& ledger) {
  const auto channel = daemon.Connect();
  const auto tunings = v1::TuningService::NewStub(channel);
  const auto operations = Operations::NewStub(channel);
  while (!end) {
    v1::TuneRequest request;
    request.mutable_module()->set_content(NumberedModule(next_module++));
    request.mutable_spec()->set_optimizer("random");
    request.mutable_spec()->mutable_budget()->set_trials(kTrials);
    while (!end) {
      Operation operation;
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::seconds(20));
      if (!tunings->Tune(&context, request, &operation).ok()) {
        absl::SleepFor(absl::Milliseconds(5));
        continue;
      }
      ledger.Accepted(operation.name());
      google::longrunning::WaitOperationRequest wait;
      wait.set_name(operation.name());
      grpc::ClientContext waiting;
      waiting.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::seconds(20));
      if (!operations->WaitOperation(&waiting, wait, &operation).ok() ||
          !operation.done()) {
        continue;
      }
      v1::TuneResponse response;
      if (operation.has_response() &&
          operation.response().UnpackTo(&response)) {
        ledger.Published(response.record());
      }
      break;
    }
  }
}

// Counts what the daemon does not have any more, or has twice.
absl::Status Compare(const DaemonProcess& daemon, Ledger& ledger, Json& row) {
  const auto channel = daemon.Connect();
  const auto cache = v1::CacheService::NewStub(channel);
  const auto operations = Operations::NewStub(channel);
  int64_t lost = 0;
  const auto published = ledger.published();
  for (const auto& [fingerprint, record] : published) {
    v1::LookupRequest request;
    request.set_module_fingerprint(fingerprint);
    v1::LookupResponse response;
    grpc::ClientContext context;
    const grpc::Status status = cache->Lookup(&context, request, &response);
    lost += !status.ok() ||
            response.record().best_cost() > record.best_cost() ||
            response.record().tuned_module_digest().empty();
  }
  int64_t forgotten = 0;
  const auto accepted = ledger.accepted();
  for (const std::string& name : accepted) {
    google::longrunning::GetOperationRequest request;
    request.set_name(name);
    Operation operation;
    grpc::ClientContext context;
    forgotten += !operations->GetOperation(&context, request, &operation).ok();
  }
  int64_t twice = 0;
  int64_t records = 0;
  std::set<std::string> keys;
  v1::ListRecordsRequest list;
  do {
    v1::ListRecordsResponse page;
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(ToStatus(cache->List(&context, list, &page)));
    for (const v1::Record& record : page.records()) {
      ++records;
      twice += !keys.insert(record.key().SerializeAsString()).second;
    }
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty());
  row["results acknowledged"] = published.size();
  row["results lost"] = lost;
  row["tunings accepted"] = accepted.size();
  row["tunings forgotten"] = forgotten;
  row["records"] = records;
  row["records of one key"] = twice;
  if (lost > 0) {
    row["broken"].push_back(absl::StrCat(lost, " acknowledged results lost"));
  }
  if (forgotten > 0) {
    row["broken"].push_back(absl::StrCat(forgotten, " tunings forgotten"));
  }
  if (twice > 0) row["broken"].push_back(absl::StrCat(twice, " duplicates"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> KillUnderLoad(const FaultOptions& options) {
  Json row = {{"fault", "kill"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  Ledger ledger;
  std::atomic<int64_t> next_module = 0;
  std::atomic<bool> end = false;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] { Load(daemon, next_module, end, ledger); });
  }
  Rng rng(options.seed);
  absl::Duration slowest;
  absl::Status status;
  for (int64_t i = 0; i < options.kills && status.ok(); ++i) {
    absl::SleepFor(absl::Milliseconds(5 + rng.Below(800)));
    daemon.Kill();
    const absl::StatusOr<absl::Duration> ready = daemon.Start();
    status = ready.status();
    if (ready.ok()) slowest = std::max(slowest, *ready);
  }
  end = true;
  for (std::thread& client : clients) client.join();
  HONE_RETURN_IF_ERROR(status);
  row["kills"] = options.kills;
  HONE_RETURN_IF_ERROR(Compare(daemon, ledger, row));
  row["slowest start, s"] = absl::ToDoubleSeconds(slowest);
  if (slowest > absl::Seconds(1)) {
    row["broken"].push_back("a start took more than 1 s");
  }
  return row;
}

}  // namespace hone::bench

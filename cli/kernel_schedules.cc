#include "cli/kernel_schedules.h"

#include <optional>
#include <utility>
#include <vector>

#include "cli/client.h"

#include "backends/cpu/host.h"
#include "base/status_macros.h"
#include "loops/text/canonical.h"
#include "storage/sqlite/sqlite_store.h"
#include "tuning/tasks/kernel_decision.h"
#include "tuning/tuner.h"

namespace hone::cli {
namespace {

constexpr char kTask[] = "kernel";

class NoSchedules final : public PublishedSchedules {
 private:
  absl::StatusOr<std::string> Decision(const std::string&) override {
    return absl::NotFoundError("nothing to look up in");
  }
};

class DaemonSchedules final : public PublishedSchedules {
 public:
  DaemonSchedules(std::unique_ptr<Client> client, int32_t threads)
      : client_(std::move(client)), threads_(threads) {}

 private:
  absl::StatusOr<std::string> Decision(
      const std::string& fingerprint) override {
    hone::v1::LookupRequest request;
    request.set_module_fingerprint(fingerprint);
    request.set_task(kTask);
    request.set_target(backends::HostDevice().fingerprint);
    request.mutable_options()->mutable_kernel()->set_threads(threads_);
    HONE_ASSIGN_OR_RETURN(const hone::v1::LookupResponse response,
                          client_->Lookup(request));
    return response.record().decision();
  }

  const std::unique_ptr<Client> client_;
  const int32_t threads_;
};

class StoredSchedules final : public PublishedSchedules {
 public:
  StoredSchedules(std::unique_ptr<storage::Store> store, int32_t threads)
      : store_(std::move(store)) {
    spec_.task = kTask;
    spec_.target = backends::HostDevice().fingerprint;
    spec_.options.threads = threads;
  }

 private:
  absl::StatusOr<std::string> Decision(
      const std::string& fingerprint) override {
    HONE_ASSIGN_OR_RETURN(
        const storage::CacheKey key,
        tuning::MakeCacheKey(fingerprint, spec_, /*kernels=*/nullptr));
    HONE_ASSIGN_OR_RETURN(const storage::Record record, store_->Lookup(key));
    return record.decision;
  }

  const std::unique_ptr<storage::Store> store_;
  tuning::TuningSpec spec_;
};

}  // namespace

backends::ScheduleSource SchedulesOf(const tuning::KernelScripts& scripts) {
  return [&scripts](const loops::Program& kernel)
             -> std::optional<std::vector<loops::Step>> {
    const auto it = scripts.find(loops::FingerprintOf(kernel));
    if (it == scripts.end()) return std::nullopt;
    return it->second;
  };
}

absl::StatusOr<std::unique_ptr<PublishedSchedules>> PublishedSchedules::Open(
    const Connection& connection, const std::string& state, int32_t threads) {
  if (!state.empty()) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<storage::Store> store,
                          storage::SqliteStore::Create(state));
    return std::make_unique<StoredSchedules>(std::move(store), threads);
  }
  // Waiting for a daemon that starts would take longer than compiling.
  if (connection.server.empty() && !RunningServer().has_value()) {
    return None();
  }
  auto client = std::make_unique<Client>(connection);
  if (client->Answers(absl::ZeroDuration())) {
    return std::make_unique<DaemonSchedules>(std::move(client), threads);
  }
  return None();
}

std::unique_ptr<PublishedSchedules> PublishedSchedules::None() {
  return std::make_unique<NoSchedules>();
}

backends::ScheduleSource PublishedSchedules::Source() {
  return [this](const loops::Program& kernel)
             -> std::optional<std::vector<loops::Step>> {
    ++asked_;
    const auto decision = Decision(loops::FingerprintOf(kernel));
    if (!decision.ok()) return std::nullopt;
    auto script = tuning::ScriptOfDecision(*decision);
    if (!script.ok()) return std::nullopt;
    ++found_;
    return *std::move(script);
  };
}

}  // namespace hone::cli

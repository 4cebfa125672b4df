#include "daemon/quarantine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "tuning/search.h"

namespace hone::daemon {
namespace {

// Failures of modules that are kept; more begin to count again.
constexpr size_t kMaxEntries = 10'000;

}  // namespace

absl::Status Quarantine::Load() {
  HONE_ASSIGN_OR_RETURN(const auto modules, store_.ListSetAside());
  absl::MutexLock lock(&mu_);
  for (const storage::QuarantinedModule& module : modules) {
    entries_[module.digest] = {kMaxFailures, module.reason};
  }
  UpdateGauge();
  return absl::OkStatus();
}

absl::Status Quarantine::Check(absl::string_view digest) const {
  absl::MutexLock lock(&mu_);
  const auto it = entries_.find(digest);
  if (it == entries_.end() || it->second.failures < kMaxFailures) {
    return absl::OkStatus();
  }
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        "module ", digest, " is set aside: ", it->second.reason,
                        "; expected its release first")),
                    "MODULE_QUARANTINED", {{"digest", std::string(digest)}});
}

void Quarantine::Count(absl::string_view digest, const absl::Status& status) {
  if (!tuning::IsProcessFailure(status)) return;
  metrics_.process_failures.Increment();
  {
    absl::MutexLock lock(&mu_);
    if (entries_.size() >= kMaxEntries) {
      absl::erase_if(entries_, [](const auto& entry) {
        return entry.second.failures < kMaxFailures;
      });
    }
    Entry& entry = entries_[digest];
    if (++entry.failures != kMaxFailures) return;
  }
  Add(digest, absl::StrCat(status.message(), ", ", kMaxFailures, " times"));
}

void Quarantine::Add(absl::string_view digest, absl::string_view reason) {
  {
    absl::MutexLock lock(&mu_);
    entries_[digest] = {kMaxFailures, std::string(reason)};
    UpdateGauge();
  }
  spdlog::warn("module {} is set aside: {}", std::string(digest),
               std::string(reason));
  // If the store cannot take it, it holds until the end of the daemon.
  store_
      .SetAside({.digest = std::string(digest),
                 .reason = std::string(reason),
                 .since = SystemClock().Now()})
      .IgnoreError();
}

absl::StatusOr<std::vector<storage::QuarantinedModule>> Quarantine::List() {
  return store_.ListSetAside();
}

absl::Status Quarantine::Release(absl::string_view digest) {
  const absl::Status status = store_.TakeBack(digest);
  if (absl::IsNotFound(status)) {
    return ResourceNotFound("quarantined module", digest);
  }
  HONE_RETURN_IF_ERROR(status);
  absl::MutexLock lock(&mu_);
  entries_.erase(digest);
  UpdateGauge();
  return absl::OkStatus();
}

void Quarantine::UpdateGauge() {
  metrics_.modules_quarantined.Set(static_cast<double>(
      std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
        return entry.second.failures >= kMaxFailures;
      })));
}

}  // namespace hone::daemon

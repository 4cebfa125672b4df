#include "daemon/telemetry/observed_store.h"

#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/excerpt.h"

namespace hone::daemon {
namespace {

using storage::CacheKey;
using storage::Record;
using storage::RecordFilter;
using storage::StoreStats;
using storage::Tuning;
using storage::TuningState;

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// Unambiguous, as no component but the last holds a line feed, and faster than
// the key's digest.
std::string MemoryKey(const CacheKey& key) {
  return absl::StrCat(key.module_fingerprint, "\n", key.task, "\n",
                      key.space_version, "\n", key.task_options, "\n",
                      key.target);
}

double SecondsSince(absl::Duration start) {
  return absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
}

}  // namespace

ObservedStore::ObservedStore(std::unique_ptr<storage::Store> store,
                             Metrics& metrics, const std::string& folder)
    : store_(std::move(store)),
      metrics_(metrics),
      folder_(folder.empty() ? ""
                             : std::filesystem::absolute(folder).string()) {
  // Until the first Stats.
  metrics_.db_writable.Set(Health().ok() ? 1 : 0);
}

absl::Status ObservedStore::WithoutFolder(const absl::Status& status) const {
  if (folder_.empty() || !absl::StrContains(status.message(), folder_)) {
    return status;
  }
  spdlog::error("{}", std::string(status.message()));
  absl::Status result(status.code(), absl::StrReplaceAll(status.message(),
                                                         {{folder_, "STATE"}}));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    result.SetPayload(type, payload);
  });
  return result;
}

template <typename Result>
Result ObservedStore::Observe(Result result) {
  const absl::Status& status = StatusOf(result);
  if (absl::IsUnavailable(status)) metrics_.db_busy.Increment();
  if (!status.ok()) return WithoutFolder(status);
  return result;
}

template <typename Write>
auto ObservedStore::ObserveWrite(Write write) {
  const absl::Duration start = SystemClock().Monotonic();
  auto result = write();
  metrics_.db_commit_duration.Observe(SecondsSince(start));
  return Observe(std::move(result));
}

std::optional<Record> ObservedStore::RememberedRecord(const CacheKey& key) {
  const absl::Duration start = SystemClock().Monotonic();
  std::optional<Record> record = records_.Find(MemoryKey(key));
  if (record.has_value()) {
    metrics_.cache_lookup_duration.Observe(SecondsSince(start));
    store_->NoteUse(key);
  }
  return record;
}

absl::StatusOr<Record> ObservedStore::Lookup(const CacheKey& key) {
  if (std::optional<Record> record = RememberedRecord(key)) {
    return *std::move(record);
  }
  const absl::Duration start = SystemClock().Monotonic();
  absl::ReaderMutexLock lock(&coherence_mu_);
  absl::StatusOr<Record> record = Observe(store().Lookup(key));
  metrics_.cache_lookup_duration.Observe(SecondsSince(start));
  if (record.ok()) records_.Insert(MemoryKey(key), *record);
  return record;
}

absl::StatusOr<bool> ObservedStore::Publish(const Record& record) {
  absl::WriterMutexLock lock(&coherence_mu_);
  records_.Erase(MemoryKey(record.key));
  return ObserveWrite([&] { return store().Publish(record); });
}

absl::StatusOr<Record> ObservedStore::GetRecord(absl::string_view key_digest) {
  return Observe(store().GetRecord(key_digest));
}

absl::Status ObservedStore::DeleteRecord(absl::string_view key_digest) {
  absl::WriterMutexLock lock(&coherence_mu_);
  records_.Clear();
  absl::Status status =
      ObserveWrite([&] { return store().DeleteRecord(key_digest); });
  if (status.ok()) metrics_.cache_invalidated.Increment();
  return status;
}

absl::StatusOr<int64_t> ObservedStore::Invalidate(const RecordFilter& filter) {
  absl::WriterMutexLock lock(&coherence_mu_);
  records_.Clear();
  absl::StatusOr<int64_t> removed =
      ObserveWrite([&] { return store().Invalidate(filter); });
  if (removed.ok()) {
    metrics_.cache_invalidated.Increment(static_cast<double>(*removed));
  }
  return removed;
}

absl::StatusOr<std::string> ObservedStore::PutBlob(absl::string_view bytes) {
  return ObserveWrite([&] { return store().PutBlob(bytes); });
}

absl::StatusOr<std::string> ObservedStore::GetBlob(absl::string_view digest) {
  return Observe(store().GetBlob(digest));
}

absl::StatusOr<bool> ObservedStore::HasBlob(absl::string_view digest) {
  return Observe(store().HasBlob(digest));
}

absl::StatusOr<Tuning> ObservedStore::CreateTuning(const Tuning& tuning) {
  return ObserveWrite([&] { return store().CreateTuning(tuning); });
}

absl::Status ObservedStore::SetTuningTarget(absl::string_view id,
                                            absl::string_view target) {
  return ObserveWrite([&] { return store().SetTuningTarget(id, target); });
}

absl::StatusOr<int64_t> ObservedStore::CountAttempt(absl::string_view id) {
  return ObserveWrite([&] { return store().CountAttempt(id); });
}

absl::Status ObservedStore::SetAside(const storage::QuarantinedModule& module) {
  return ObserveWrite([&] { return store().SetAside(module); });
}

absl::StatusOr<std::vector<storage::QuarantinedModule>>
ObservedStore::ListSetAside() {
  return Observe(store().ListSetAside());
}

absl::Status ObservedStore::TakeBack(absl::string_view digest) {
  return ObserveWrite([&] { return store().TakeBack(digest); });
}

absl::StatusOr<Tuning> ObservedStore::GetTuning(absl::string_view id) {
  return Observe(store().GetTuning(id));
}

absl::Status ObservedStore::SetTuningState(absl::string_view id,
                                           TuningState state,
                                           absl::string_view error) {
  return ObserveWrite(
      [&] { return store().SetTuningState(id, state, BoundedMessage(error)); });
}

absl::StatusOr<storage::Page<Tuning>> ObservedStore::ListTunings(
    absl::Span<const TuningState> states, int32_t page_size,
    absl::string_view page_token) {
  return Observe(store().ListTunings(states, page_size, page_token));
}

absl::Status ObservedStore::AppendTrials(
    absl::string_view tuning_id, absl::Span<const space::Trial> trials) {
  const absl::Status status =
      ObserveWrite([&] { return store().AppendTrials(tuning_id, trials); });
  if (status.ok()) {
    for (const space::Trial& trial : trials) {
      metrics_
          .Candidates(
              std::string(space::OutcomeName(trial.measurement.outcome)))
          .Increment();
    }
  }
  return status;
}

absl::Status ObservedStore::ForEachTrial(
    absl::string_view tuning_id,
    const std::function<void(space::Trial)>& visit) {
  return Observe(store().ForEachTrial(tuning_id, visit));
}

absl::StatusOr<storage::Page<Record>> ObservedStore::ListRecords(
    const RecordFilter& filter, int32_t page_size,
    absl::string_view page_token) {
  return Observe(store().ListRecords(filter, page_size, page_token));
}

absl::StatusOr<std::optional<Record>> ObservedStore::FindNearest(
    const CacheKey& key) {
  return Observe(store().FindNearest(key));
}

absl::StatusOr<StoreStats> ObservedStore::Stats() {
  absl::StatusOr<StoreStats> stats = Observe(store().Stats());
  if (stats.ok()) {
    metrics_.schema_version.Set(stats->schema_version);
    metrics_.cache_entries.Set(static_cast<double>(stats->records));
    metrics_.cache_bytes.Set(static_cast<double>(stats->bytes));
    metrics_.db_wal_bytes.Set(static_cast<double>(stats->wal_bytes));
    metrics_.db_writable.Set(Health().ok() ? 1 : 0);
    // The store also counts what listings and checks skip.
    absl::MutexLock lock(&corrupt_mu_);
    metrics_.cache_corrupt.Increment(
        static_cast<double>(stats->corrupt - corrupt_));
    corrupt_ = stats->corrupt;
  }
  return stats;
}

absl::Status ObservedStore::Health() { return store_->Health(); }

void ObservedStore::NoteUse(const CacheKey& key) { store_->NoteUse(key); }

absl::StatusOr<storage::CheckPage> ObservedStore::Check(
    absl::string_view page_token) {
  return Observe(store_->Check(page_token));
}

absl::StatusOr<storage::SweepResult> ObservedStore::Sweep(
    const storage::RetentionPolicy& policy) {
  absl::StatusOr<storage::SweepResult> result = Observe(store_->Sweep(policy));
  if (!result.ok()) {
    // It may have removed some before.
    absl::WriterMutexLock lock(&coherence_mu_);
    records_.Clear();
    return result;
  }
  {
    // Waits for readers that have found what is gone; no other one will.
    absl::WriterMutexLock lock(&coherence_mu_);
    for (const auto* keys : {&result->expired, &result->evicted}) {
      for (const CacheKey& key : *keys) records_.Erase(MemoryKey(key));
    }
  }
  const auto count = [](prometheus::Counter& counter, auto number) {
    counter.Increment(static_cast<double>(number));
  };
  count(metrics_.cache_expired, result->expired.size());
  count(metrics_.cache_evicted, result->evicted.size());
  count(metrics_.db_tunings_removed, result->tunings);
  count(metrics_.db_blobs_removed, result->blobs);
  return result;
}

absl::StatusOr<storage::BackupInfo> ObservedStore::Backup(
    absl::string_view name) {
  absl::StatusOr<storage::BackupInfo> info = Observe(store_->Backup(name));
  if (info.ok()) metrics_.db_last_backup.SetToCurrentTime();
  return info;
}

}  // namespace hone::daemon

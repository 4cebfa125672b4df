#include "daemon/telemetry/observed_store.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"

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
                             Metrics& metrics)
    : store_(std::move(store)), metrics_(metrics) {}

template <typename Result>
Result ObservedStore::Observe(Result result) {
  const absl::Status& status = StatusOf(result);
  if (absl::IsDataLoss(status)) metrics_.cache_corrupt.Increment();
  if (absl::IsUnavailable(status)) metrics_.db_busy.Increment();
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
  }
  return record;
}

absl::StatusOr<Record> ObservedStore::Lookup(const CacheKey& key) {
  if (std::optional<Record> record = RememberedRecord(key)) {
    return *std::move(record);
  }
  const absl::Duration start = SystemClock().Monotonic();
  absl::ReaderMutexLock lock(&coherence_mu_);
  absl::StatusOr<Record> record = Observe(store_->Lookup(key));
  metrics_.cache_lookup_duration.Observe(SecondsSince(start));
  if (record.ok()) records_.Insert(MemoryKey(key), *record);
  return record;
}

absl::StatusOr<bool> ObservedStore::Publish(const Record& record) {
  absl::WriterMutexLock lock(&coherence_mu_);
  records_.Erase(MemoryKey(record.key));
  return ObserveWrite([&] { return store_->Publish(record); });
}

absl::StatusOr<int64_t> ObservedStore::Invalidate(const RecordFilter& filter) {
  absl::WriterMutexLock lock(&coherence_mu_);
  records_.Clear();
  absl::StatusOr<int64_t> removed =
      ObserveWrite([&] { return store_->Invalidate(filter); });
  if (removed.ok()) {
    metrics_.cache_evicted.Increment(static_cast<double>(*removed));
  }
  return removed;
}

absl::StatusOr<std::string> ObservedStore::PutBlob(absl::string_view bytes) {
  return ObserveWrite([&] { return store_->PutBlob(bytes); });
}

absl::StatusOr<std::string> ObservedStore::GetBlob(absl::string_view digest) {
  return Observe(store_->GetBlob(digest));
}

absl::StatusOr<bool> ObservedStore::HasBlob(absl::string_view digest) {
  return Observe(store_->HasBlob(digest));
}

absl::StatusOr<Tuning> ObservedStore::CreateTuning(const Tuning& tuning) {
  return ObserveWrite([&] { return store_->CreateTuning(tuning); });
}

absl::StatusOr<Tuning> ObservedStore::GetTuning(absl::string_view id) {
  return Observe(store_->GetTuning(id));
}

absl::Status ObservedStore::SetTuningState(absl::string_view id,
                                           TuningState state,
                                           absl::string_view error) {
  return ObserveWrite([&] { return store_->SetTuningState(id, state, error); });
}

absl::StatusOr<storage::Page<Tuning>> ObservedStore::ListTunings(
    absl::Span<const TuningState> states, int32_t page_size,
    absl::string_view page_token) {
  return Observe(store_->ListTunings(states, page_size, page_token));
}

absl::Status ObservedStore::AppendTrials(
    absl::string_view tuning_id, absl::Span<const space::Trial> trials) {
  const absl::Status status =
      ObserveWrite([&] { return store_->AppendTrials(tuning_id, trials); });
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

absl::StatusOr<std::vector<space::Trial>> ObservedStore::ListTrials(
    absl::string_view tuning_id) {
  return Observe(store_->ListTrials(tuning_id));
}

absl::StatusOr<storage::Page<Record>> ObservedStore::ListRecords(
    const RecordFilter& filter, int32_t page_size,
    absl::string_view page_token) {
  return Observe(store_->ListRecords(filter, page_size, page_token));
}

absl::StatusOr<std::optional<Record>> ObservedStore::FindNearest(
    const CacheKey& key) {
  return Observe(store_->FindNearest(key));
}

absl::StatusOr<StoreStats> ObservedStore::Stats() {
  absl::StatusOr<StoreStats> stats = Observe(store_->Stats());
  if (stats.ok()) {
    metrics_.schema_version.Set(stats->schema_version);
    metrics_.cache_entries.Set(static_cast<double>(stats->records));
    metrics_.cache_bytes.Set(static_cast<double>(stats->bytes));
    metrics_.db_wal_bytes.Set(static_cast<double>(stats->wal_bytes));
  }
  return stats;
}

}  // namespace hone::daemon

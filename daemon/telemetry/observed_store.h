#ifndef HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_
#define HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"

#include "daemon/lru_map.h"
#include "daemon/telemetry/metrics.h"
#include "storage/store.h"

namespace hone::daemon {

// A store that counts what is done with it and answers repeated lookups from
// memory. All writes of the process must go through it, so that what it
// remembers is never older than what is stored.
// Threads: thread-safe.
class ObservedStore final : public storage::Store {
 public:
  // `metrics` outlives the store.
  ObservedStore(std::unique_ptr<storage::Store> store, Metrics& metrics);

  // The record, if it can be had without blocking.
  std::optional<storage::Record> RememberedRecord(const storage::CacheKey& key);

  absl::StatusOr<std::string> PutBlob(absl::string_view bytes) override;
  absl::StatusOr<std::string> GetBlob(absl::string_view digest) override;
  absl::StatusOr<bool> HasBlob(absl::string_view digest) override;

  absl::Status CreateTuning(const storage::Tuning& tuning) override;
  absl::StatusOr<storage::Tuning> GetTuning(absl::string_view id) override;
  absl::Status SetTuningState(absl::string_view id, storage::TuningState state,
                              absl::string_view error) override;
  absl::StatusOr<storage::Page<storage::Tuning>> ListTunings(
      absl::Span<const storage::TuningState> states, int32_t page_size,
      absl::string_view page_token) override;
  absl::StatusOr<std::optional<storage::Tuning>> FindUnfinishedTuning(
      const storage::CacheKey& key) override;

  absl::Status AppendTrials(absl::string_view tuning_id,
                            absl::Span<const space::Trial> trials) override;
  absl::StatusOr<std::vector<space::Trial>> ListTrials(
      absl::string_view tuning_id) override;

  absl::Status Publish(const storage::Record& record) override;
  absl::StatusOr<storage::Record> Lookup(const storage::CacheKey& key) override;
  absl::StatusOr<storage::Page<storage::Record>> ListRecords(
      const storage::RecordFilter& filter, int32_t page_size,
      absl::string_view page_token) override;
  absl::StatusOr<int64_t> Invalidate(
      const storage::RecordFilter& filter) override;
  absl::StatusOr<std::optional<storage::Record>> FindNearest(
      const storage::CacheKey& key) override;

  absl::StatusOr<storage::StoreStats> Stats() override;

 private:
  // Counts errors; returns its argument.
  template <typename Result>
  Result Observe(Result result);
  // Times a write, too.
  template <typename Write>
  auto ObserveWrite(Write write);

  const std::unique_ptr<storage::Store> store_;
  Metrics& metrics_;

  // Shared by those who fill `records_` from the store, exclusive to those who
  // change the store: so nothing outdated is remembered.
  absl::Mutex coherence_mu_;
  LruMap<storage::Record> records_{1 << 14};
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_

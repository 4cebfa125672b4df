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

// A store with metrics and a cache of records. All writes of the process must
// go through it, so that the cache is never older than the store. Threads:
// thread-safe.
class ObservedStore final : public storage::Store {
 public:
  // `metrics` outlives the store.
  ObservedStore(std::unique_ptr<storage::Store> store, Metrics& metrics);

  // Returns the record if it is cached. Does not block.
  std::optional<storage::Record> RememberedRecord(const storage::CacheKey& key);

  absl::StatusOr<std::string> PutBlob(absl::string_view bytes) override;
  absl::StatusOr<std::string> GetBlob(absl::string_view digest) override;
  absl::StatusOr<bool> HasBlob(absl::string_view digest) override;

  absl::StatusOr<storage::Tuning> CreateTuning(
      const storage::Tuning& tuning) override;
  absl::StatusOr<storage::Tuning> GetTuning(absl::string_view id) override;
  absl::Status SetTuningState(absl::string_view id, storage::TuningState state,
                              absl::string_view error) override;
  absl::StatusOr<storage::Page<storage::Tuning>> ListTunings(
      absl::Span<const storage::TuningState> states, int32_t page_size,
      absl::string_view page_token) override;

  absl::Status AppendTrials(absl::string_view tuning_id,
                            absl::Span<const space::Trial> trials) override;
  absl::StatusOr<std::vector<space::Trial>> ListTrials(
      absl::string_view tuning_id) override;

  absl::StatusOr<bool> Publish(const storage::Record& record) override;
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
  // The same for a write, whose time it measures.
  template <typename Write>
  auto ObserveWrite(Write write);

  const std::unique_ptr<storage::Store> store_;
  Metrics& metrics_;

  // Shared by readers that fill `records_` from the store, exclusive to writers
  // of the store, so that nothing outdated is cached.
  absl::Mutex coherence_mu_;
  LruMap<storage::Record> records_{1 << 14};
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_

#ifndef HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_
#define HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "base/may_block.h"
#include "daemon/lru_map.h"
#include "daemon/telemetry/metrics.h"
#include "storage/store.h"

namespace hone::daemon {

// A store with metrics and a cache of records. All writes of the process must
// go through it, so that the cache is never older than the store. Its errors go
// to clients, so they do not name the folder of the store; the log does.
// Threads: thread-safe.
class ObservedStore final : public storage::Store {
 public:
  // `metrics` outlives the store. `folder`: of the store, or empty.
  ObservedStore(std::unique_ptr<storage::Store> store, Metrics& metrics,
                const std::string& folder = "");

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
  absl::Status SetTuningTarget(absl::string_view id,
                               absl::string_view target) override;
  absl::StatusOr<int64_t> CountAttempt(absl::string_view id) override;
  absl::StatusOr<storage::Page<storage::Tuning>> ListTunings(
      absl::Span<const storage::TuningState> states, int32_t page_size,
      absl::string_view page_token) override;

  absl::Status AppendTrials(absl::string_view tuning_id,
                            absl::Span<const space::Trial> trials) override;
  absl::Status ForEachTrial(
      absl::string_view tuning_id,
      const std::function<void(space::Trial)>& visit) override;

  absl::StatusOr<bool> Publish(const storage::Record& record) override;
  absl::StatusOr<storage::Record> Lookup(const storage::CacheKey& key) override;
  absl::StatusOr<storage::Record> GetRecord(
      absl::string_view key_digest) override;
  absl::Status DeleteRecord(absl::string_view key_digest) override;
  absl::StatusOr<storage::Page<storage::Record>> ListRecords(
      const storage::RecordFilter& filter, int32_t page_size,
      absl::string_view page_token) override;
  absl::StatusOr<int64_t> Invalidate(
      const storage::RecordFilter& filter) override;
  absl::StatusOr<std::optional<storage::Record>> FindNearest(
      const storage::CacheKey& key) override;

  absl::Status SetAside(const storage::QuarantinedModule& module) override;
  absl::StatusOr<std::vector<storage::QuarantinedModule>> ListSetAside()
      override;
  absl::Status TakeBack(absl::string_view digest) override;

  absl::StatusOr<storage::StoreStats> Stats() override;

  absl::Status Health() override;
  void NoteUse(const storage::CacheKey& key) override;
  absl::StatusOr<storage::CheckPage> Check(
      absl::string_view page_token) override;
  absl::StatusOr<storage::SweepResult> Sweep(
      const storage::RetentionPolicy& policy) override;
  absl::StatusOr<storage::BackupInfo> Backup(absl::string_view name) override;

 private:
  // The store, which blocks.
  storage::Store& store() {
    AssertMayBlock("the store");
    return *store_;
  }
  // Counts errors; returns its argument, an error without the folder.
  template <typename Result>
  Result Observe(Result result);
  absl::Status WithoutFolder(const absl::Status& status) const;
  // The same for a write, whose time it measures.
  template <typename Write>
  auto ObserveWrite(Write write);

  const std::unique_ptr<storage::Store> store_;
  Metrics& metrics_;
  // Absolute; empty if there is none.
  const std::string folder_;

  // The corrupt items that the counter has.
  absl::Mutex corrupt_mu_;
  int64_t corrupt_ ABSL_GUARDED_BY(corrupt_mu_) = 0;

  // Shared by readers that fill `records_` from the store, exclusive to writers
  // of the store, so that nothing outdated is cached.
  absl::Mutex coherence_mu_;
  LruMap<storage::Record> records_{1 << 14};
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_OBSERVED_STORE_H_

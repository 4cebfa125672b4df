#ifndef HONE_STORAGE_MEMORY_STORE_H_
#define HONE_STORAGE_MEMORY_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

#include "base/clock.h"
#include "storage/candidate_coder.h"
#include "storage/store.h"

namespace hone::storage {

// A store in memory, for single runs and tests.
class MemoryStore : public Store {
 public:
  // `clock` outlives the store; it sets Tuning::updated.
  explicit MemoryStore(const Clock& clock = SystemClock()) : clock_(clock) {}

  absl::StatusOr<std::string> PutBlob(absl::string_view bytes) override;
  absl::StatusOr<std::string> GetBlob(absl::string_view digest) override;
  absl::StatusOr<bool> HasBlob(absl::string_view digest) override;

  absl::StatusOr<Tuning> CreateTuning(const Tuning& tuning) override;
  absl::StatusOr<Tuning> GetTuning(absl::string_view id) override;
  absl::Status SetTuningState(absl::string_view id, TuningState state,
                              absl::string_view error) override;
  absl::Status SetTuningTarget(absl::string_view id,
                               absl::string_view target) override;
  absl::StatusOr<int64_t> CountAttempt(absl::string_view id) override;
  absl::StatusOr<Page<Tuning>> ListTunings(
      absl::Span<const TuningState> states, int32_t page_size,
      absl::string_view page_token) override;

  absl::Status AppendTrials(absl::string_view tuning_id,
                            absl::Span<const space::Trial> trials) override;
  absl::Status ForEachTrial(
      absl::string_view tuning_id,
      const std::function<void(space::Trial)>& visit) override;

  absl::StatusOr<bool> Publish(const Record& record) override;
  absl::StatusOr<Record> Lookup(const CacheKey& key) override;
  absl::StatusOr<Record> GetRecord(absl::string_view key_digest) override;
  absl::Status DeleteRecord(absl::string_view key_digest) override;
  absl::StatusOr<Page<Record>> ListRecords(
      const RecordFilter& filter, int32_t page_size,
      absl::string_view page_token) override;
  absl::StatusOr<int64_t> Invalidate(const RecordFilter& filter) override;
  absl::StatusOr<std::optional<Record>> FindNearest(
      const CacheKey& key) override;

  absl::Status SetAside(const QuarantinedModule& module) override;
  absl::StatusOr<std::vector<QuarantinedModule>> ListSetAside() override;
  absl::Status TakeBack(absl::string_view digest) override;

  absl::StatusOr<StoreStats> Stats() override;

 private:
  struct Log {
    Tuning tuning = {};
    // Their candidates are encoded.
    std::vector<space::Trial> trials = {};
    std::vector<std::string> candidates = {};
    CandidateCoder coder = {};
    int64_t attempts = 0;
    int64_t attempt_trials = 0;
  };

  absl::StatusOr<Log*> FindLog(absl::string_view id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  absl::Mutex mu_;
  // Tunings and records in the order of their insertion.
  int64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<int64_t, Log> tunings_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, Record> records_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> tuning_by_id_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> record_by_key_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::string> blobs_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, QuarantinedModule> set_aside_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_MEMORY_STORE_H_

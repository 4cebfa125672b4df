#include "storage/memory_store.h"

#include <iterator>
#include <utility>

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/contract.h"
#include "storage/page_token.h"
#include "storage/trial_log.h"

namespace hone::storage {
namespace {

// A page of what `select` picks (null: not in this listing) from `source`.
template <typename T, typename Source, typename Select>
absl::StatusOr<Page<T>> List(const std::string& listing, int32_t page_size,
                             absl::string_view page_token, const Source& source,
                             Select select) {
  HONE_ASSIGN_OR_RETURN(const PageRequest request,
                        ParsePageRequest(listing, page_size, page_token));
  Page<T> page;
  int64_t last = 0;
  for (auto it = std::make_reverse_iterator(source.lower_bound(request.before));
       it != source.rend(); ++it) {
    const T* item = select(it->second);
    if (item == nullptr) continue;
    if (static_cast<int64_t>(page.items.size()) == request.size) {
      page.next_page_token = MakePageToken(listing, last);
      break;
    }
    page.items.push_back(*item);
    last = it->first;
  }
  return page;
}

}  // namespace

absl::StatusOr<std::string> MemoryStore::PutBlob(absl::string_view bytes) {
  std::string digest = Sha256Hex(bytes);
  absl::MutexLock lock(&mu_);
  blobs_.try_emplace(digest, bytes);
  return digest;
}

absl::StatusOr<std::string> MemoryStore::GetBlob(absl::string_view digest) {
  absl::MutexLock lock(&mu_);
  auto it = blobs_.find(digest);
  if (it == blobs_.end()) return NoSuchBlob(digest);
  return it->second;
}

absl::StatusOr<bool> MemoryStore::HasBlob(absl::string_view digest) {
  absl::MutexLock lock(&mu_);
  return blobs_.contains(digest);
}

absl::StatusOr<Tuning> MemoryStore::CreateTuning(const Tuning& tuning) {
  absl::MutexLock lock(&mu_);
  for (const auto& [_, log] : tunings_) {
    if (IsUnfinishedTwin(log.tuning, tuning)) return log.tuning;
  }
  if (!tuning_by_id_.try_emplace(tuning.id, next_sequence_).second) {
    return TuningExists(tuning.id);
  }
  tunings_.emplace(next_sequence_++, Log{.tuning = tuning});
  return tuning;
}

absl::StatusOr<Tuning> MemoryStore::GetTuning(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  HONE_ASSIGN_OR_RETURN(const Log* log, FindLog(id));
  return log->tuning;
}

absl::Status MemoryStore::SetTuningState(absl::string_view id,
                                         TuningState state,
                                         absl::string_view error) {
  absl::MutexLock lock(&mu_);
  HONE_ASSIGN_OR_RETURN(Log * log, FindLog(id));
  if (IsTerminal(log->tuning.state)) return TuningEnded(log->tuning);
  log->tuning.state = state;
  log->tuning.error = std::string(error);
  log->tuning.updated = clock_.Now();
  return absl::OkStatus();
}

absl::Status MemoryStore::SetTuningTarget(absl::string_view id,
                                          absl::string_view target) {
  absl::MutexLock lock(&mu_);
  HONE_ASSIGN_OR_RETURN(Log* const log, FindLog(id));
  if (IsTerminal(log->tuning.state)) return TuningEnded(log->tuning);
  log->tuning.key.target = std::string(target);
  log->tuning.updated = clock_.Now();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryStore::CountAttempt(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  HONE_ASSIGN_OR_RETURN(Log* const log, FindLog(id));
  const bool has_new = log->tuning.trials > log->attempt_trials;
  log->attempts = has_new ? 1 : log->attempts + 1;
  log->attempt_trials = log->tuning.trials;
  return log->attempts;
}

absl::StatusOr<Page<Tuning>> MemoryStore::ListTunings(
    absl::Span<const TuningState> states, int32_t page_size,
    absl::string_view page_token) {
  absl::MutexLock lock(&mu_);
  return List<Tuning>(TuningListing(states), page_size, page_token, tunings_,
                      [&](const Log& log) {
                        return HasState(log.tuning, states) ? &log.tuning
                                                            : nullptr;
                      });
}

absl::Status MemoryStore::AppendTrials(absl::string_view tuning_id,
                                       absl::Span<const space::Trial> trials) {
  absl::MutexLock lock(&mu_);
  HONE_ASSIGN_OR_RETURN(Log * log, FindLog(tuning_id));
  HONE_ASSIGN_OR_RETURN(trials, ExtendTrialLog(trials, log->tuning));
  for (const space::Trial& trial : trials) {
    log->candidates.push_back(log->coder.Encode(trial.candidate));
    log->trials.push_back({trial.id, {}, trial.measurement});
  }
  log->tuning.updated = clock_.Now();
  return absl::OkStatus();
}

absl::Status MemoryStore::ForEachTrial(
    absl::string_view tuning_id,
    const std::function<void(space::Trial)>& visit) {
  absl::MutexLock lock(&mu_);
  HONE_ASSIGN_OR_RETURN(const Log* log, FindLog(tuning_id));
  CandidateCoder coder;
  for (size_t i = 0; i < log->trials.size(); ++i) {
    space::Trial trial = log->trials[i];
    HONE_ASSIGN_OR_RETURN(trial.candidate, coder.Decode(log->candidates[i]));
    visit(std::move(trial));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryStore::Publish(const Record& record) {
  absl::MutexLock lock(&mu_);
  if (!record.tuning_id.empty()) {
    HONE_ASSIGN_OR_RETURN(Log * log, FindLog(record.tuning_id));
    HONE_RETURN_IF_ERROR(MarkSucceeded(log->tuning));
    log->tuning.updated = clock_.Now();
  }
  const std::string digest = record.key.Digest();
  auto [it, inserted] = record_by_key_.try_emplace(digest, next_sequence_);
  if (!inserted) {
    if (!Replaces(record, records_.at(it->second))) return false;
    records_.erase(it->second);
    it->second = next_sequence_;
  }
  records_.emplace(next_sequence_++, record);
  return true;
}

absl::StatusOr<Record> MemoryStore::Lookup(const CacheKey& key) {
  absl::MutexLock lock(&mu_);
  auto it = record_by_key_.find(key.Digest());
  if (it == record_by_key_.end()) return NoSuchRecord(key);
  return records_.at(it->second);
}

absl::StatusOr<Record> MemoryStore::GetRecord(absl::string_view key_digest) {
  absl::MutexLock lock(&mu_);
  auto it = record_by_key_.find(key_digest);
  if (it == record_by_key_.end()) return NoRecordOfDigest(key_digest);
  return records_.at(it->second);
}

absl::Status MemoryStore::DeleteRecord(absl::string_view key_digest) {
  absl::MutexLock lock(&mu_);
  auto it = record_by_key_.find(key_digest);
  if (it == record_by_key_.end()) return NoRecordOfDigest(key_digest);
  records_.erase(it->second);
  record_by_key_.erase(it);
  return absl::OkStatus();
}

absl::StatusOr<Page<Record>> MemoryStore::ListRecords(
    const RecordFilter& filter, int32_t page_size,
    absl::string_view page_token) {
  absl::MutexLock lock(&mu_);
  return List<Record>(RecordListing(filter), page_size, page_token, records_,
                      [&](const Record& record) {
                        return Matches(filter, record) ? &record : nullptr;
                      });
}

absl::StatusOr<int64_t> MemoryStore::Invalidate(const RecordFilter& filter) {
  absl::MutexLock lock(&mu_);
  return static_cast<int64_t>(std::erase_if(records_, [&](const auto& entry) {
    mu_.AssertHeld();
    if (!Matches(filter, entry.second)) return false;
    record_by_key_.erase(entry.second.key.Digest());
    return true;
  }));
}

absl::StatusOr<std::optional<Record>> MemoryStore::FindNearest(
    const CacheKey& key) {
  absl::MutexLock lock(&mu_);
  const Record* nearest = nullptr;
  for (auto it = records_.rbegin(); it != records_.rend(); ++it) {
    if (nearest == nullptr || SharedComponents(it->second.key, key) >
                                  SharedComponents(nearest->key, key)) {
      nearest = &it->second;
    }
  }
  if (nearest == nullptr) return std::nullopt;
  return *nearest;
}

absl::Status MemoryStore::SetAside(const QuarantinedModule& module) {
  absl::MutexLock lock(&mu_);
  set_aside_[module.digest] = module;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<QuarantinedModule>> MemoryStore::ListSetAside() {
  absl::MutexLock lock(&mu_);
  std::vector<QuarantinedModule> modules;
  for (const auto& [_, module] : set_aside_) modules.push_back(module);
  return modules;
}

absl::Status MemoryStore::TakeBack(absl::string_view digest) {
  absl::MutexLock lock(&mu_);
  if (set_aside_.erase(std::string(digest)) > 0) return absl::OkStatus();
  return NotSetAside(digest);
}

absl::StatusOr<StoreStats> MemoryStore::Stats() {
  absl::MutexLock lock(&mu_);
  StoreStats stats;
  stats.records = static_cast<int64_t>(records_.size());
  stats.tunings = static_cast<int64_t>(tunings_.size());
  for (const auto& [_, log] : tunings_) stats.trials += log.tuning.trials;
  stats.blobs = static_cast<int64_t>(blobs_.size());
  return stats;
}

absl::StatusOr<MemoryStore::Log*> MemoryStore::FindLog(absl::string_view id) {
  auto it = tuning_by_id_.find(id);
  if (it == tuning_by_id_.end()) return NoSuchTuning(id);
  return &tunings_.at(it->second);
}

}  // namespace hone::storage

#include "storage/contract.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace hone::storage {
namespace {

bool FieldMatches(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

// The measure of a record's result; lower is better. NaN if it has none.
double ResultOf(const Record& record) {
  return record.unit == "ns" ? record.best_cost / record.default_cost
                             : record.best_cost;
}

}  // namespace

absl::Status NoSuchBlob(absl::string_view digest) {
  return absl::NotFoundError(absl::StrCat("no blob '", digest, "'"));
}

absl::Status NoSuchTuning(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("no tuning '", id, "'"));
}

absl::Status NoSuchRecord(const CacheKey& key) {
  return absl::NotFoundError(absl::StrCat("no record of module ",
                                          key.module_fingerprint, ", task '",
                                          key.task, "'"));
}

absl::Status NoRecordOfDigest(absl::string_view key_digest) {
  return absl::NotFoundError(absl::StrCat("no record '", key_digest, "'"));
}

absl::Status TuningExists(absl::string_view id) {
  return absl::AlreadyExistsError(
      absl::StrCat("tuning '", id, "' exists already"));
}

absl::Status TuningEnded(const Tuning& tuning) {
  return absl::FailedPreconditionError(absl::StrCat(
      "tuning '", tuning.id, "' is ", TuningStateName(tuning.state),
      ", expected an unfinished one"));
}

absl::Status MarkSucceeded(Tuning& tuning) {
  if (tuning.state == TuningState::kFailed ||
      tuning.state == TuningState::kCancelled) {
    return TuningEnded(tuning);
  }
  tuning.state = TuningState::kSucceeded;
  tuning.error.clear();
  return absl::OkStatus();
}

bool Replaces(const Record& record, const Record& published) {
  // Another unit is another measure: only the newer one can be trusted.
  if (record.unit != published.unit) return true;
  const double result = ResultOf(record);
  const double present = ResultOf(published);
  if (std::isnan(result)) return std::isnan(present);
  return !(present < result);
}

bool IsUnfinishedTwin(const Tuning& tuning, const Tuning& wanted) {
  return !IsTerminal(tuning.state) && tuning.key == wanted.key &&
         tuning.optimizer == wanted.optimizer && tuning.seed == wanted.seed;
}

bool HasState(const Tuning& tuning, absl::Span<const TuningState> states) {
  return states.empty() ||
         std::find(states.begin(), states.end(), tuning.state) != states.end();
}

bool Matches(const RecordFilter& filter, const Record& record) {
  return FieldMatches(filter.module_fingerprint,
                      record.key.module_fingerprint) &&
         FieldMatches(filter.target, record.key.target) &&
         FieldMatches(filter.task, record.key.task) &&
         FieldMatches(filter.producer, record.producer) &&
         (filter.measured_by.empty() ||
          absl::c_linear_search(record.verification.measured_by,
                                filter.measured_by)) &&
         record.created >= filter.created_after &&
         record.created < filter.created_before;
}

int SharedComponents(const CacheKey& a, const CacheKey& b) {
  return (a.module_fingerprint == b.module_fingerprint) +
         (a.target == b.target) + (a.task == b.task) +
         (a.task_options == b.task_options) +
         (a.space_version == b.space_version);
}

absl::Status NotSetAside(absl::string_view digest) {
  return absl::NotFoundError(
      absl::StrCat("module '", digest, "' is not set aside"));
}

}  // namespace hone::storage

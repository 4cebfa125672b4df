#include "tuning/trial_writer.h"

#include "base/status_macros.h"

namespace hone::tuning {
namespace {

constexpr size_t kMaxWaiting = 64;
constexpr absl::Duration kMaxWait = absl::Milliseconds(200);

}  // namespace

absl::Status TrialWriter::Add(const space::Trial& trial) {
  const absl::Duration now = clock_.Monotonic();
  if (waiting_.empty()) first_waits_since_ = now;
  waiting_.push_back(trial);
  if (waiting_.size() < kMaxWaiting && now - first_waits_since_ < kMaxWait) {
    return absl::OkStatus();
  }
  return Flush();
}

absl::Status TrialWriter::Flush() {
  if (waiting_.empty()) return absl::OkStatus();
  HONE_RETURN_IF_ERROR(store_.AppendTrials(tuning_id_, waiting_));
  waiting_.clear();
  return absl::OkStatus();
}

}  // namespace hone::tuning

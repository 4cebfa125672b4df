#include "tuning/trial_writer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace hone::tuning {
namespace {

constexpr size_t kMaxWaiting = 64;
// Of all candidates that wait, 4 MiB.
constexpr size_t kMaxWaitingChoices = size_t{1} << 20;
constexpr absl::Duration kMaxWait = absl::Milliseconds(200);
// A clock of tests may stand still.
constexpr absl::Duration kMinSleep = absl::Milliseconds(1);

}  // namespace

TrialWriter::TrialWriter(storage::Store& store, const Clock& clock,
                         std::string tuning_id, StoredCallback on_stored)
    : store_(store),
      clock_(clock),
      tuning_id_(std::move(tuning_id)),
      on_stored_(std::move(on_stored)),
      thread_([this] { Work(); }) {}

TrialWriter::~TrialWriter() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

absl::Status TrialWriter::Add(const space::Trial& trial) {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Monotonic();
  if (waiting_.empty()) first_waits_since_ = now;
  waiting_.push_back(trial);
  waiting_choices_ += trial.candidate.choices.size();
  HONE_RETURN_IF_ERROR(std::exchange(error_, absl::OkStatus()));
  if (waiting_.size() < kMaxWaiting && waiting_choices_ < kMaxWaitingChoices &&
      now - first_waits_since_ < kMaxWait) {
    return absl::OkStatus();
  }
  return FlushLocked();
}

absl::Status TrialWriter::Flush() {
  absl::MutexLock lock(&mu_);
  error_ = absl::OkStatus();
  return FlushLocked();
}

absl::Status TrialWriter::FlushLocked() {
  if (waiting_.empty()) return absl::OkStatus();
  HONE_RETURN_IF_ERROR(store_.AppendTrials(tuning_id_, waiting_));
  if (on_stored_) {
    for (const space::Trial& trial : waiting_) on_stored_(trial);
  }
  waiting_.clear();
  waiting_choices_ = 0;
  return absl::OkStatus();
}

void TrialWriter::Work() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || !waiting_.empty();
  };
  absl::MutexLock lock(&mu_);
  while (true) {
    mu_.Await(absl::Condition(&has_work));
    if (stopping_) return;
    const absl::Duration remaining =
        first_waits_since_ + kMaxWait - clock_.Monotonic();
    if (remaining > absl::ZeroDuration()) {
      // Others store and add meanwhile, so everything is looked at again.
      mu_.AwaitWithTimeout(absl::Condition(&stopping_),
                           std::max(remaining, kMinSleep));
      continue;
    }
    error_ = FlushLocked();
    // The search learns of an error with its next trial; until then, retry.
    first_waits_since_ = clock_.Monotonic();
  }
}

}  // namespace hone::tuning

#include "storage/record.h"

#include "absl/strings/str_cat.h"

#include "base/hash.h"

namespace hone::storage {

std::string CacheKey::Digest() const {
  std::string text;
  for (const std::string* component :
       {&module_fingerprint, &target, &task, &task_options, &space_version}) {
    absl::StrAppend(&text, component->size(), ":", *component);
  }
  return Sha256Hex(text);
}

absl::string_view TuningStateName(TuningState state) {
  switch (state) {
    case TuningState::kPending:
      return "pending";
    case TuningState::kRunning:
      return "running";
    case TuningState::kSucceeded:
      return "succeeded";
    case TuningState::kFailed:
      return "failed";
    case TuningState::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::optional<TuningState> ParseTuningState(absl::string_view name) {
  for (TuningState state :
       {TuningState::kPending, TuningState::kRunning, TuningState::kSucceeded,
        TuningState::kFailed, TuningState::kCancelled}) {
    if (name == TuningStateName(state)) return state;
  }
  return std::nullopt;
}

bool IsTerminal(TuningState state) {
  return state != TuningState::kPending && state != TuningState::kRunning;
}

}  // namespace hone::storage

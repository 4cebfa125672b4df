#include "daemon/request_ids.h"

#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "daemon/errors.h"
#include "daemon/limits.h"

namespace hone::daemon {
namespace {

// How often a request that waits for another asks whether it is to stop.
constexpr absl::Duration kPatrol = absl::Milliseconds(50);

}  // namespace

absl::StatusOr<std::string> RequestIds::Once(absl::string_view caller,
                                             absl::string_view id,
                                             absl::string_view digest,
                                             const StopPredicate& stop,
                                             const Serve& serve) {
  // Ids have no line break.
  const std::string key = absl::StrCat(id, "\n", caller);
  Entries::iterator entry;
  {
    absl::MutexLock lock(&mu_);
    while (true) {
      const auto found = index_.find(key);
      if (found == index_.end()) break;
      entry = found->second;
      if (entry->digest != digest) {
        return WithReason(
            absl::AlreadyExistsError(absl::StrCat(
                "request_id \"", id,
                "\" was that of another request, expected a new one")),
            "REQUEST_ID_REUSED", {{"request_id", std::string(id)}});
      }
      if (entry->is_answered) {
        entries_.splice(entries_.begin(), entries_, entry);
        return entry->answer;
      }
      const auto is_settled = [&] {
        mu_.AssertReaderHeld();
        const auto now = index_.find(key);
        return now == index_.end() || now->second->is_answered;
      };
      // More would take the threads that other requests need.
      const auto others = waiting_of_caller_.find(caller);
      if (waiting_ >= kMaxRepetitions ||
          (others != waiting_of_caller_.end() &&
           others->second >= kMaxRepetitionsOfCaller)) {
        return OverloadedAt(
            "request_id_waits",
            absl::StrCat("the first request with request_id \"", id,
                         "\" is still served, and ", waiting_,
                         " repetitions wait already"));
      }
      ++waiting_;
      ++waiting_of_caller_[caller];
      bool is_stopped = false;
      while (!is_stopped &&
             !mu_.AwaitWithTimeout(absl::Condition(&is_settled), kPatrol)) {
        is_stopped = stop();
      }
      --waiting_;
      const auto waited = waiting_of_caller_.find(caller);
      if (--waited->second == 0) waiting_of_caller_.erase(waited);
      if (is_stopped) return absl::CancelledError("stopped");
    }
    entries_.push_front({.key = key,
                         .caller = std::string(caller),
                         .digest = std::string(digest)});
    entry = entries_.begin();
    index_.emplace(key, entry);
    ++count_of_caller_[caller];
  }
  absl::StatusOr<std::string> answer = serve();
  absl::MutexLock lock(&mu_);
  // Entries without an answer are never forgotten by others.
  if (!answer.ok()) {
    Forget(entry);
    return answer;
  }
  entry->is_answered = true;
  entry->answer = *answer;
  bytes_ += static_cast<int64_t>(answer->size());
  entries_.splice(entries_.begin(), entries_, entry);
  Trim(entry->caller);
  return answer;
}

void RequestIds::Forget(Entries::iterator entry) {
  const auto count = count_of_caller_.find(entry->caller);
  if (--count->second == 0) count_of_caller_.erase(count);
  bytes_ -= static_cast<int64_t>(entry->answer.size());
  index_.erase(entry->key);
  entries_.erase(entry);
}

void RequestIds::Trim(const std::string& caller) {
  while (count_of_caller_[caller] > limits_.per_caller &&
         ForgetOldest(caller)) {
  }
  while ((static_cast<int64_t>(entries_.size()) > limits_.total ||
          bytes_ > limits_.bytes) &&
         ForgetOldest("")) {
  }
}

bool RequestIds::ForgetOldest(absl::string_view caller) {
  for (auto it = entries_.end(); it != std::next(entries_.begin());) {
    --it;
    if (!it->is_answered || (!caller.empty() && it->caller != caller)) continue;
    Forget(it);
    return true;
  }
  return false;
}

absl::Status CheckRequestId(absl::string_view id) {
  bool is_printable = true;
  for (const char c : id) {
    is_printable &= absl::ascii_isprint(static_cast<unsigned char>(c));
  }
  if (is_printable && static_cast<int64_t>(id.size()) <= kMaxRequestIdBytes) {
    return absl::OkStatus();
  }
  absl::Status status = InvalidField(
      "request_id",
      absl::StrCat(id.size(), " bytes, expected at most ", kMaxRequestIdBytes,
                   " printable ASCII characters"));
  return is_printable ? WithLimit(std::move(status), "request_id_bytes")
                      : status;
}

}  // namespace hone::daemon

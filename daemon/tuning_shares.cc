#include "daemon/tuning_shares.h"

#include "absl/strings/str_cat.h"

#include "daemon/errors.h"
#include "daemon/limits.h"

namespace hone::daemon {

absl::Status TuningShares::Add(const Share& share) {
  if (size() >= kMaxTuningShares &&
      !shares_.contains({share.caller, share.request_id})) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          "the tuning has ", size(),
                          " shares, expected fewer (requests without a "
                          "request_id have one together)")),
                      "TOO_MANY_SHARES");
  }
  shares_.emplace(share.caller, share.request_id);
  return absl::OkStatus();
}

absl::Status TuningShares::Remove(const Share& share) {
  if (shares_.empty()) return absl::OkStatus();
  size_t removed = 0;
  if (share.request_id.empty()) {
    removed = std::erase_if(
        shares_, [&](const auto& own) { return own.first == share.caller; });
  } else {
    removed = shares_.erase({share.caller, share.request_id});
  }
  if (removed > 0) return absl::OkStatus();
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        "the tuning is shared by ", size(),
                        " other requests, expected one of them, or force")),
                    "NO_SHARE");
}

}  // namespace hone::daemon

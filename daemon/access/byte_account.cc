#include "daemon/access/byte_account.h"

#include "absl/strings/str_cat.h"

#include "daemon/errors.h"

namespace hone::daemon {

absl::Status ByteAccount::Take(const std::string& client, int64_t bytes) {
  absl::MutexLock lock(&mu_);
  if (bytes_ + bytes > max_bytes_) {
    return OverloadedAt("max_bytes_in_flight",
                        absl::StrCat("the requests under way hold ", bytes_,
                                     " bytes, expected at most ", max_bytes_,
                                     " with this one of ", bytes));
  }
  const auto known = by_client_.find(client);
  const int64_t of_client = known == by_client_.end() ? 0 : known->second;
  if (of_client + bytes > max_client_bytes_) {
    return OverloadedAt(
        "max_client_bytes_in_flight",
        absl::StrCat("your requests under way hold ", of_client,
                     " bytes, expected at most ", max_client_bytes_,
                     " with this one of ", bytes));
  }
  bytes_ += bytes;
  by_client_[client] = of_client + bytes;
  used_.Set(static_cast<double>(bytes_));
  return absl::OkStatus();
}

void ByteAccount::Release(const std::string& client, int64_t bytes) {
  absl::MutexLock lock(&mu_);
  bytes_ -= bytes;
  used_.Set(static_cast<double>(bytes_));
  const auto known = by_client_.find(client);
  known->second -= bytes;
  if (known->second == 0) by_client_.erase(known);
}

}  // namespace hone::daemon

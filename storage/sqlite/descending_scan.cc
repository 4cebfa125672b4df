#include "storage/sqlite/descending_scan.h"

namespace hone::storage::sqlite {

absl::StatusOr<bool> DescendingScan::Next() {
  skipped_ = absl::OkStatus();
  absl::StatusOr<bool> found = query_.Step();
  if (absl::IsDataLoss(found.status())) found = Skip(found.status());
  if (found.ok() && *found) position_ = query_.Int(0);
  return found;
}

absl::StatusOr<bool> DescendingScan::Skip(const absl::Status& error) {
  const auto readable_below = [&](int64_t distance) {
    query_.Restart(position_ - 1 - distance);
    return query_.Step().ok();
  };
  // The rows of a page have neighboring keys: find one beyond them, then the
  // highest that can be read.
  int64_t unreadable = 0;
  int64_t readable = 1;
  while (!readable_below(readable)) {
    if (readable >= position_) return error;
    unreadable = readable;
    readable = readable > position_ / 2 ? position_ : 2 * readable;
  }
  while (readable - unreadable > 1) {
    const int64_t middle = unreadable + (readable - unreadable) / 2;
    (readable_below(middle) ? readable : unreadable) = middle;
  }
  skipped_ = error;
  query_.Restart(position_ - 1 - readable);
  return query_.Step();
}

}  // namespace hone::storage::sqlite

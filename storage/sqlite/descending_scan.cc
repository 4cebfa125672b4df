#include "storage/sqlite/descending_scan.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::storage::sqlite {

// A damaged page can hold any key, and can be reached twice: without this, a
// scan or a series of pages could run in circles.
absl::StatusOr<bool> DescendingScan::StepBelow(int64_t position) {
  HONE_ASSIGN_OR_RETURN(const bool found, query_.Step());
  if (!found || query_.Int(0) < position) return found;
  query_.CountCorruptRow();
  return absl::DataLossError(
      absl::StrCat("row ", query_.Int(0), " is not in order"));
}

absl::StatusOr<bool> DescendingScan::Next() {
  skipped_ = absl::OkStatus();
  absl::StatusOr<bool> found = StepBelow(position_);
  if (absl::IsDataLoss(found.status())) found = Skip(found.status());
  if (found.ok() && *found) position_ = query_.Int(0);
  return found;
}

absl::StatusOr<bool> DescendingScan::Skip(const absl::Status& error) {
  const auto readable_below = [&](int64_t distance) {
    query_.Restart(position_ - 1 - distance);
    return StepBelow(position_ - distance).ok();
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
  return StepBelow(position_ - readable);
}

}  // namespace hone::storage::sqlite

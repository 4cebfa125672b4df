#ifndef HONE_STORAGE_SQLITE_DESCENDING_SCAN_H_
#define HONE_STORAGE_SQLITE_DESCENDING_SCAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "storage/sqlite/database.h"

namespace hone::storage::sqlite {

// Steps through a query whose first column is an integer key, at most ?1 and
// descending. Goes on below rows that lie in unreadable pages. (Not less than
// ?1: the search for that key could end in the page to be avoided.)
class DescendingScan {
 public:
  // `query` outlives the scan and has all its parameters, ?1 as `before` - 1.
  DescendingScan(Statement& query, int64_t before)
      : query_(query), position_(before) {}

  // Returns false at the end.
  // Errors: also DataLoss if nothing below can be read.
  absl::StatusOr<bool> Next();

  // The key of the current row.
  int64_t position() const { return position_; }
  // Why rows right above the current one were skipped, or OK.
  const absl::Status& skipped() const { return skipped_; }

 private:
  // Takes a step of the query. Errors: DataLoss also if the row's key is not
  // below `position`.
  absl::StatusOr<bool> StepBelow(int64_t position);
  // Continues at the highest row that can be read below `position_`.
  absl::StatusOr<bool> Skip(const absl::Status& error);

  Statement& query_;
  int64_t position_;
  absl::Status skipped_;
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_DESCENDING_SCAN_H_

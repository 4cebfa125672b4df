#ifndef HONE_STORAGE_SQLITE_LISTING_H_
#define HONE_STORAGE_SQLITE_LISTING_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

#include "base/status_macros.h"
#include "storage/page_token.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/descending_scan.h"
#include "storage/sqlite/rows.h"
#include "storage/store.h"

namespace hone::storage::sqlite {

template <typename T>
using RowReader = absl::StatusOr<Row<T>> (*)(const Statement&);

// Reads the page of `request` from a query for one row more than its size,
// newest first. Skips corrupt rows and those in unreadable pages.
template <typename T>
absl::StatusOr<Page<T>> ReadPage(Statement& query, const std::string& listing,
                                 const PageRequest& request,
                                 RowReader<T> read) {
  Page<T> page;
  DescendingScan scan(query, request.before);
  int64_t last = 0;
  for (int64_t i = 0;; ++i) {
    HONE_ASSIGN_OR_RETURN(const bool found, scan.Next());
    if (!found) return page;
    if (i == request.size) break;
    last = scan.position();
    absl::StatusOr<Row<T>> row = read(query);
    if (row.ok()) page.items.push_back(std::move(row->value));
  }
  page.next_page_token = MakePageToken(listing, last);
  return page;
}

// Returns the first row of a query that is not corrupt.
template <typename T>
absl::StatusOr<std::optional<Row<T>>> FirstIntact(Statement& query,
                                                  RowReader<T> read) {
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) return std::nullopt;
    absl::StatusOr<Row<T>> row = read(query);
    if (row.ok()) return *std::move(row);
  }
}

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_LISTING_H_

#ifndef HONE_STORAGE_PAGE_TOKEN_H_
#define HONE_STORAGE_PAGE_TOKEN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "storage/record.h"
#include "storage/store.h"

namespace hone::storage {

// What a page token is bound to, so that a token of one listing is refused by
// another.
std::string TuningListing(absl::Span<const TuningState> states);
std::string RecordListing(const RecordFilter& filter);

// Where a page begins: below sequence number `before`, `size` items long.
struct PageRequest {
  int64_t before = 0;
  int64_t size = 0;
};

// Errors: InvalidArgument for a negative size or a token that is not of
// `listing`.
absl::StatusOr<PageRequest> ParsePageRequest(absl::string_view listing,
                                             int32_t page_size,
                                             absl::string_view page_token);

// The token of the page after the item with sequence number `last`.
std::string MakePageToken(absl::string_view listing, int64_t last);

}  // namespace hone::storage

#endif  // HONE_STORAGE_PAGE_TOKEN_H_

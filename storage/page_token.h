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

// Returns the identity of a listing. A page token is bound to it, so that
// another listing refuses the token.
std::string TuningListing(absl::Span<const TuningState> states);
std::string RecordListing(const RecordFilter& filter);

// A page of `size` items with sequence numbers below `before`.
struct PageRequest {
  int64_t before = 0;
  int64_t size = 0;
};

// Parses the request for a page.
// Errors: InvalidArgument for a negative size or a token of another listing.
absl::StatusOr<PageRequest> ParsePageRequest(absl::string_view listing,
                                             int32_t page_size,
                                             absl::string_view page_token);

// Returns the token of the page after the item with sequence number `last`.
std::string MakePageToken(absl::string_view listing, int64_t last);

}  // namespace hone::storage

#endif  // HONE_STORAGE_PAGE_TOKEN_H_

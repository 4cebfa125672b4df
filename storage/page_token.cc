#include "storage/page_token.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/hash.h"

namespace hone::storage {
namespace {

constexpr int32_t kDefaultPageSize = 100;
constexpr int32_t kMaxPageSize = 1000;

// The part of a token before the sequence number.
std::string Prefix(absl::string_view listing) {
  return absl::StrCat(absl::Hex(FastHash(listing).low, absl::kZeroPad16), "-");
}

}  // namespace

std::string TuningListing(absl::Span<const TuningState> states) {
  uint32_t set = 0;
  for (TuningState state : states) set |= 1u << static_cast<int>(state);
  return absl::StrCat("tunings:", set);
}

std::string RecordListing(const RecordFilter& filter) {
  std::string listing = "records";
  for (const std::string* field :
       {&filter.module_fingerprint, &filter.target, &filter.task,
        &filter.producer, &filter.measured_by}) {
    absl::StrAppend(&listing, ":", field->size(), ":", *field);
  }
  for (const absl::Time bound : {filter.created_after, filter.created_before}) {
    absl::StrAppend(&listing, ":", absl::FormatTime(bound));
  }
  return listing;
}

absl::StatusOr<PageRequest> ParsePageRequest(absl::string_view listing,
                                             int32_t page_size,
                                             absl::string_view page_token) {
  if (page_size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("page size ", page_size, ", expected 0 or more"));
  }
  PageRequest request{
      std::numeric_limits<int64_t>::max(),
      page_size == 0 ? kDefaultPageSize : std::min(page_size, kMaxPageSize)};
  if (page_token.empty()) return request;
  absl::string_view number = page_token;
  if (!absl::ConsumePrefix(&number, Prefix(listing)) ||
      !absl::SimpleAtoi(number, &request.before) || request.before <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("page token '", page_token,
                     "', expected one that the same listing returned"));
  }
  return request;
}

std::string MakePageToken(absl::string_view listing, int64_t last) {
  return absl::StrCat(Prefix(listing), last);
}

}  // namespace hone::storage

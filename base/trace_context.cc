#include "base/trace_context.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace hone {
namespace {

thread_local std::string current;

bool IsLowerHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Returns true for `size` digits that are not all zero.
bool IsId(absl::string_view text, size_t size) {
  return text.size() == size && absl::c_all_of(text, IsLowerHex) &&
         text.find_first_not_of('0') != absl::string_view::npos;
}

}  // namespace

bool IsTraceparent(absl::string_view text) {
  // version "-" trace-id "-" parent-id "-" flags. What later versions may add
  // is not taken over.
  return text.size() == 55 && text[2] == '-' && text[35] == '-' &&
         text[52] == '-' && absl::c_all_of(text.substr(0, 2), IsLowerHex) &&
         text.substr(0, 2) != "ff" && IsId(text.substr(3, 32), 32) &&
         IsId(text.substr(36, 16), 16) &&
         absl::c_all_of(text.substr(53), IsLowerHex);
}

absl::string_view CurrentTraceparent() { return current; }

TraceScope::TraceScope(absl::string_view traceparent)
    : previous_(std::exchange(current, IsTraceparent(traceparent)
                                           ? std::string(traceparent)
                                           : "")) {}

TraceScope::~TraceScope() { current = std::move(previous_); }

}  // namespace hone

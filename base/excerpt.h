#ifndef HONE_BASE_EXCERPT_H_
#define HONE_BASE_EXCERPT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone {

// Returns the beginning of `text`, which comes from a file, as a message can
// show it: in one line of printable ASCII, escaped as in C, with `…` in place
// of what is too long.
std::string Excerpt(absl::string_view text);

// Returns `message`, which may repeat what a client sent, at a bounded length
// and in one line: words of more than 200 bytes are cut, and so is all after
// 2000 bytes, with `…` in their place; control characters become spaces.
std::string BoundedMessage(absl::string_view message);

}  // namespace hone

#endif  // HONE_BASE_EXCERPT_H_

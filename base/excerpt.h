#ifndef HONE_BASE_EXCERPT_H_
#define HONE_BASE_EXCERPT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone {

// Returns the beginning of `text`, which comes from a file, as a message can
// show it: in one line of printable ASCII, escaped as in C, with `…` in place
// of what is too long.
std::string Excerpt(absl::string_view text);

}  // namespace hone

#endif  // HONE_BASE_EXCERPT_H_

#ifndef HONE_HLO_INFERENCE_ANNOTATION_TEXT_H_
#define HONE_HLO_INFERENCE_ANNOTATION_TEXT_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace hone::hlo {

// The text of attributes without a place of their own (Attributes::others):
// sharding={{A}, {B}}, origin={(A, B)}, frontend_attributes={k="v"}. Results
// are views of the text.

// The text between `open` and `close`, without blanks around it; nullopt where
// these do not enclose it.
std::optional<absl::string_view> Enclosed(absl::string_view text, char open,
                                          char close);

// The parts between the commas that are outside of brackets, quotes and
// comments, without blanks around them and comments before them; none for an
// empty text, nullopt where brackets or quotes do not match.
std::optional<std::vector<absl::string_view>> SplitAtCommas(
    absl::string_view text);

}  // namespace hone::hlo

#endif  // HONE_HLO_INFERENCE_ANNOTATION_TEXT_H_

#ifndef HONE_HLO_PROTO_ATTRIBUTES_H_
#define HONE_HLO_PROTO_ATTRIBUTES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/opcode.h"

namespace hone::xla {
class FrontendAttributes;
class HloInstructionProto;
}  // namespace hone::xla

// Attributes between Hone and the proto. What the proto has a field for goes
// there. The rest travels in frontend attributes, which XLA keeps:
//
//   hone.text.NAME   the text of an attribute without a field (or whose text
//                    the field does not give back exactly)
//   hone.proto_rest  base64 of a proto with the fields that text cannot say
namespace hone::hlo {

using TextAttributes = std::vector<std::pair<std::string, std::string>>;

// Reads the fields of Attributes that have one in `proto`, and clears them
// there. `operand_type` is operand 0's element type, which decides the default
// comparison.
absl::Status TakeAttributes(Opcode opcode, ElementType operand_type,
                            xla::HloInstructionProto& proto,
                            Attributes& attributes);

// The reverse.
void WriteAttributes(Opcode opcode, ElementType operand_type,
                     const Attributes& attributes,
                     xla::HloInstructionProto& proto);

// Appends what is left in `proto`, which says nothing of names, ids, shape,
// literal and the like any more, as text in XLA's order. `callees` is how many
// computations the instruction calls.
void TakeTextAttributes(Opcode opcode, int callees,
                        xla::HloInstructionProto& proto, TextAttributes& texts);

// The reverse, for an instruction of that many operands.
void WriteTextAttributes(Opcode opcode, size_t operand_count,
                         const TextAttributes& texts,
                         xla::HloInstructionProto& proto);

// Errors: FailedPrecondition when the frontend attributes among `texts` have a
// name hone.text.…, which stands for something else in a proto.
absl::Status CheckFrontendNames(const TextAttributes& texts);

// `{a="b",c={"json":1}}` from and to a map.
bool ReadFrontendAttributes(absl::string_view text,
                            xla::FrontendAttributes& attributes);
std::string FrontendAttributesText(const xla::FrontendAttributes& attributes);

// Moves hone.text.NAME from a map to texts where `accept` takes name and value;
// they override what a field gave.
void TakeHoneAttributes(
    xla::FrontendAttributes& frontend,
    absl::FunctionRef<bool(const std::string&, const std::string&)> accept,
    TextAttributes& texts);

// Adds the text of frontend attributes: that among `texts` if it means the same
// (a value may have been quoted where that is not needed), else their own.
void AddFrontendText(const xla::FrontendAttributes& frontend,
                     TextAttributes& texts);

// Moves the entries whose keys text cannot say.
void TakeUnsayable(xla::FrontendAttributes& frontend,
                   xla::FrontendAttributes& unsayable);

// Removes hone.proto_rest from a map and decodes it; empty when there is none.
std::string TakeProtoRest(xla::FrontendAttributes& frontend);

// Returns true if `text` is a name as HLO text has them: letters, digits, '.',
// '_' and '-', at least one.
bool IsName(absl::string_view text);

inline constexpr absl::string_view kTextKeyPrefix = "hone.text.";
inline constexpr absl::string_view kProtoRestKey = "hone.proto_rest";

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_ATTRIBUTES_H_

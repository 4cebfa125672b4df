#ifndef HONE_HLO_TEXT_ATTRIBUTES_H_
#define HONE_HLO_TEXT_ATTRIBUTES_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/opcode.h"
#include "hlo/text/lexer.h"

namespace hone::hlo {

// One `name=value` of an instruction.
struct AttributeText {
  absl::string_view name;
  absl::string_view value;
};

// Reads the attributes of an instruction, those that name computations,
// metadata and control predecessors excepted. What Attributes has no field for
// goes to Attributes::others; for unknown opcodes that is everything.
// Null after an error.
std::shared_ptr<const Attributes> ReadAttributes(
    Opcode opcode, absl::Span<const AttributeText> texts, TextError* error);

// The attributes without which text of that opcode has no meaning, as in XLA:
// even one that is empty must be there.
absl::Span<const absl::string_view> RequiredAttributes(Opcode opcode);

// Returns true if `kind` is one of XLA's fusion kinds, such as kLoop.
bool IsFusionKind(absl::string_view kind);

// Appends `, name=value` for everything in the instruction's attributes and for
// its index, but none of what names computations.
void AppendAttributes(const Instruction& instruction, std::string& out);

// The attributes that name computations, in the order of Instruction::called().
enum class CallRole : uint8_t {
  kNone,
  kToApply,
  kCondition,
  kBody,
  kSelect,
  kScatter,
  kTrueComputation,
  kFalseComputation,
  kBranchComputations,
  kCalls,
  kCalledComputations,
};

// kNone for every other name.
CallRole CallRoleOf(absl::string_view attribute_name);
absl::string_view CallRoleName(CallRole role);

// Returns true if XLA writes the callees of `opcode` under this role, so that
// the opcode alone says how to print them. Elsewhere (unknown opcodes above
// all) Attributes::others has an entry of the role's name whose value has a `%`
// in place of each callee.
bool IsUsualRole(Opcode opcode, CallRole role);

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_ATTRIBUTES_H_

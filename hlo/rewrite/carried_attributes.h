#ifndef HONE_HLO_REWRITE_CARRIED_ATTRIBUTES_H_
#define HONE_HLO_REWRITE_CARRIED_ATTRIBUTES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// The one rule for attributes that say where an instruction stands in a program
// and not what it computes, when something else takes its place.
//
//   attribute             new instruction   existing instruction
//   sharding              carry             carry, unless it is a parameter
//                                           or a call, conditional or while,
//                                           whose callees have theirs; refuse
//                                           where both have one and they differ
//   frontend_attributes   carry, merge      refuse unless equal
//   origin                carry             carry where it has none
//   metadata              carry             keep its own
//   operand_precision,    the replacement has to have them where it is the
//   algorithm             same operation (MakeLike); a rewrite to another one
//                         drops them
//   backend_config        that of a while says how the loop runs: it goes with
//                         the loop; any other: refuse
//   any other             refuse: the instruction is not rewritten
//
// Control dependencies, side effects and dynamic dimensions are
// Rewriter::MayReplace's matter.

// Returns true if nothing in the attributes forbids to replace `instruction`.
bool AttributesPermitReplacing(const Instruction& instruction);

// Returns true for a call, conditional or while.
bool IsControlFlow(Opcode opcode);

// Returns true if `instruction` has a sharding, frontend attributes or
// attributes that forbid to replace it, which would be lost with it where
// nothing of its shape takes its place.
bool IsAnnotated(const Instruction& instruction);
// Returns true if a region that the instruction applies has annotations. What
// replaces a call, conditional or while, which applies none, has copies of its
// callee's instructions or leaves a callee that never runs.
bool AppliesAnnotated(const Module& module, const Instruction& instruction);
// Returns true if `to` has the opcode of `from` and all of these attributes.
bool KeepsAnnotations(const Instruction& from, const Instruction& to);

// The attributes of `instruction` that are not carried: those of an equal
// computation elsewhere, of another shape perhaps. Shares the object where
// nothing is dropped.
std::shared_ptr<const Attributes> WithoutCarried(
    const std::shared_ptr<const Attributes>& attributes);

// Returns true unless the rule refuses that `replacement`, of the same shape,
// replaces `old`; `is_new` if the rewrite added it, or has yet to copy it into
// the computation.
bool MayCarryAttributes(const Computation& computation, InstructionId old,
                        const Instruction& replacement, bool is_new);

// Gives `replacement` the carried attributes of `old`, where
// MayCarryAttributes.
void CarryAttributes(Computation& computation, InstructionId old,
                     InstructionId replacement, bool is_new);

// Keys and values, with their quotes, of the frontend attributes, none if there
// are none; nullopt for text of another form.
using FrontendEntries = std::vector<std::pair<std::string, std::string>>;
std::optional<FrontendEntries> FrontendAttributes(
    const Instruction& instruction);

// The value text of attribute `name`; null if the instruction has none.
const std::string* FindAttribute(const Instruction& instruction,
                                 absl::string_view name);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_CARRIED_ATTRIBUTES_H_

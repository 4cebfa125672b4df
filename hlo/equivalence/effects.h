#ifndef HONE_HLO_EQUIVALENCE_EFFECTS_H_
#define HONE_HLO_EQUIVALENCE_EFFECTS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// Returns true if running the instruction shows outside the module whether or
// not anything uses its value: transfers, custom calls that say so, draws from
// a backend's random state, collectives that other devices wait in (by XLA's
// rule: asynchronous ones and those with a channel or a fixed layout), and
// opcodes that Hone does not know. Narrower than IsOpaque, which also names
// tokens, barriers and custom calls without an effect. What the instruction
// calls is not looked at.
bool HasEffect(const Instruction& instruction);

// Compares the instructions with effects that the entry reaches, those in dead
// code included, as a multiset: opcode, attributes, shapes of result and
// operands. One may get a sharding, as that of the root that it becomes, but
// not lose one. Their order, and how often a loop runs them, are not compared.
// Returns what differs; nullopt if nothing does.
std::optional<std::string> EffectDifference(const Module& a, const Module& b);

// Makes what the effects of the entry take as operands further outputs of the
// module, after its own, so that they are judged like them. The module itself
// where it has no effects. Effects of the same kind keep their order.
// Errors: Unimplemented for an effect in another computation than the entry.
absl::StatusOr<Module> WithEffectOperands(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_EFFECTS_H_

#ifndef HONE_HLO_IR_OPCODE_H_
#define HONE_HLO_IR_OPCODE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace hone::hlo {

enum class Opcode : uint8_t {
  // An opcode that Hone does not know: kept verbatim, never touched
  // (Instruction::unknown_opcode has its name).
  kUnknown = 0,
#define HONE_OPCODE(enumerator, name, arity, opcode_class) enumerator,
#include "hlo/ir/opcodes.def"
#undef HONE_OPCODE
};

// One more than the last enumerator's value.
inline constexpr int kOpcodeCount = 1
#define HONE_OPCODE(enumerator, name, arity, opcode_class) +1
#include "hlo/ir/opcodes.def"
#undef HONE_OPCODE
    ;

// The name in HLO text; "unknown" for kUnknown.
absl::string_view OpcodeName(Opcode opcode);

// The opcode of that name; nullopt when we do not know it.
std::optional<Opcode> ParseOpcode(absl::string_view name);

// Number of operands; -1 where it varies.
int OpcodeArity(Opcode opcode);

// Returns true if each element of the result depends on the same element of
// each operand only. True of compare, select, clamp, convert and copy too; not
// of broadcast and reshape.
bool IsElementwise(Opcode opcode);

// Returns true if the instruction has effects or a meaning outside the module,
// so that it must be neither removed, nor merged with an equal one, nor
// duplicated. While, call and the like are not opaque themselves; see
// Module::HasSideEffect.
bool IsOpaque(Opcode opcode);

// Returns true if f(a, b) = f(b, a) for every operand.
bool IsCommutative(Opcode opcode);

// Returns true if it is an elementwise function that processors compute by a
// series of operations; square roots count.
bool IsTranscendental(Opcode opcode);

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_OPCODE_H_

#ifndef HONE_TESTS_HLO_PASSES_EFFECTS_H_
#define HONE_TESTS_HLO_PASSES_EFFECTS_H_

#include <optional>
#include <string>

#include "hlo/ir/module.h"

namespace hone::hlo {

// Says how the effects of `after`, which was made from `before`, differ from
// those of `before`; nullopt if they do not:
//
// - Outside loops and conditionals, with calls taken as inlined, every kind of
//   effect (opcode, shape and attributes) happens as often as before.
// - Within loops and conditionals, which may be unrolled, peeled and resolved,
//   no kind of effect is new.
// - Where a control dependency of the entry orders two instructions, and both
//   are still there, told by name and opcode, one still waits for the other.
std::optional<std::string> DifferenceInEffects(const Module& before,
                                               const Module& after);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_EFFECTS_H_

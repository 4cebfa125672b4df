#ifndef HONE_HLO_REWRITE_CALL_SITES_H_
#define HONE_HLO_REWRITE_CALL_SITES_H_

#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// What a pass asks before it changes the signature of a computation that a
// while or conditional calls.

// For each computation slot, how many times instructions name it as callee.
std::vector<int> CountCallers(const Module& module);

// Counts the callees of a computation that has just been copied once more.
void AddCallersOf(const Computation& computation, std::vector<int>& callers);

// Whether `tuple` is not the root and get-tuple-element is all that uses it.
bool UsesElementsOnly(const Computation& computation, InstructionId tuple);

// Whether the instruction has a sharding. That of a tuple has a part for each
// element, in text that passes do not look into.
bool IsSharded(const Instruction& instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_CALL_SITES_H_

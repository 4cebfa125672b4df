#ifndef HONE_HLO_ANALYSIS_CANONICAL_H_
#define HONE_HLO_ANALYSIS_CANONICAL_H_

#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// A byte string that two modules share exactly when they mean the same to
// every tool that reads them: names, ids, metadata, the order of instructions
// (unless scheduled) and what only printing decides are left out.
//
// Computations are numbered in the order in which a traversal from the entry
// first calls them, instructions in post-order from parameters and root. Dead
// instructions and uncalled computations follow in the order of their own
// contents; where two dead roots have equal contents but share operands in
// different ways, slot order decides.
std::string CanonicalForm(const Module& module);

// Returns the instructions of a computation in the order in which the form
// numbers them: what stands at one place of it is the same in all modules of
// one form. Operands stand before their users, unless the module is scheduled,
// whose order is that of the slots.
std::vector<InstructionId> CanonicalOrder(const Module& module,
                                          ComputationId computation);
// The same of the entry computation.
std::vector<InstructionId> CanonicalOrder(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_CANONICAL_H_

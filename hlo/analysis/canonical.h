#ifndef HONE_HLO_ANALYSIS_CANONICAL_H_
#define HONE_HLO_ANALYSIS_CANONICAL_H_

#include <string>

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

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_CANONICAL_H_

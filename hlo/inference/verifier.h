#ifndef HONE_HLO_INFERENCE_VERIFIER_H_
#define HONE_HLO_INFERENCE_VERIFIER_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// Checks everything that the rest of Hone assumes of a module: acyclic
// computations and call graph, operands and users consistent, one parameter per
// number, called computations with the right signature, shapes as InferShape
// says, sizes that do not overflow, unique names, shardings and origins that
// fit their instruction, counts and aliases of the header that fit the entry.
// Errors: InvalidArgument, "computation C, instruction I: what, expected what"
// or "module M: what, expected what".
absl::Status VerifyModule(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_INFERENCE_VERIFIER_H_

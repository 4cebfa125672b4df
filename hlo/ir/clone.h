#ifndef HONE_HLO_IR_CLONE_H_
#define HONE_HLO_IR_CLONE_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "hlo/ir/computation.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Copies what `source` computes through `add`, which adds an instruction to the
// target and returns its id there: argument i takes the place of parameter i,
// and `order` is called for each control dependency. Everything is copied,
// instructions that do not reach the root included. Returns the id of what
// stands for the root.
InstructionId CloneInstructions(
    const Computation& source, absl::Span<const InstructionId> arguments,
    absl::FunctionRef<InstructionId(Instruction)> add,
    absl::FunctionRef<void(InstructionId successor, InstructionId predecessor)>
        order);

// Copies what `source` computes into `target`, which is in the same module (so
// that called computations stay shared): argument i, an instruction of
// `target`, takes the place of parameter i. Everything else is copied,
// instructions that do not reach the root and control dependencies included.
// Copies keep their metadata and have no name.
// Returns the instruction of `target` that stands for the root of `source`.
InstructionId CloneInto(const Computation& source,
                        absl::Span<const InstructionId> arguments,
                        Computation& target);

// Returns the number of instructions that a pass may add to the module by
// copying: calls may nest so that the program without sharing is exponentially
// larger than the module.
int64_t CloningBudget(const Module& module);

// Adds copies of computations to a module under new names (`NAME.clone`,
// `NAME.clone.1`, …).
class ComputationCloner {
 public:
  // No computation may be added or renamed otherwise after the first Clone.
  explicit ComputationCloner(Module& module) : module_(module) {}

  ComputationId Clone(ComputationId id);

 private:
  Module& module_;
  // Every name in the module → the number its next clone tries first; empty
  // before the first Clone.
  absl::flat_hash_map<std::string, int> names_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_CLONE_H_

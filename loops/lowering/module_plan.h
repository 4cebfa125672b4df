#ifndef HONE_LOOPS_LOWERING_MODULE_PLAN_H_
#define HONE_LOOPS_LOWERING_MODULE_PLAN_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hlo/ir/element_type.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"
#include "loops/program.h"

namespace hone::loops {

// Index into PlanFunction::slots.
using SlotId = int32_t;

// An array that a function keeps: dense, row-major, 64-byte aligned where it is
// in the arena. Kernels may see its bytes under other dimensions.
struct Slot {
  hlo::ShapePtr shape;
  // Values known beforehand; null otherwise.
  hlo::LiteralPtr literal;
  // Where the slot lies in the function's arena; -1 for parameters, results and
  // constants, which lie elsewhere. Slots that do not live at once share bytes.
  int64_t arena_offset = -1;
};

// A call of kernels[kernel].
struct KernelStep {
  int32_t kernel = 0;
  std::vector<SlotId> arguments;
  std::vector<SlotId> results;
};

struct CopyStep {
  SlotId from = 0;
  SlotId to = 0;
};

// while (condition(state)) state = body(state). The condition's result is one
// pred; the body has a result for each state slot. A result that no step of the
// body writes is a state that stays as it is, and whose slot must not be
// written; the others lie apart from the body's parameters while it runs.
struct WhileStep {
  int32_t condition = 0;  // functions
  int32_t body = 0;
  std::vector<SlotId> state;
};

// results = branches[i](arguments[i]) with i = selector: a pred takes branch 0
// where true and 1 where false; an s32 is the number, the last branch taking
// what is out of range.
struct ConditionalStep {
  SlotId selector = 0;
  std::vector<int32_t> branches;  // functions
  std::vector<std::vector<SlotId>> arguments;
  std::vector<SlotId> results;
};

using PlanStep = std::variant<KernelStep, CopyStep, WhileStep, ConditionalStep>;

// A computation as steps in order. Tuples are flattened: a slot per array.
struct PlanFunction {
  std::string name;
  std::vector<Slot> slots;
  std::vector<SlotId> parameters;
  // Distinct, and none of them a parameter or a constant; every one is written
  // by a step, but for those that the body of a while passes on.
  std::vector<SlotId> results;
  std::vector<PlanStep> steps;
  // Arenas of callees left out.
  int64_t arena_bytes = 0;
};

// A module as kernels and the functions that call them.
struct ModulePlan {
  std::string name;
  // Without duplicates: layers that repeat share theirs.
  std::vector<Program> kernels;
  std::vector<PlanFunction> functions;
  int32_t entry = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_MODULE_PLAN_H_

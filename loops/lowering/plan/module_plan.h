#ifndef HONE_LOOPS_LOWERING_PLAN_MODULE_PLAN_H_
#define HONE_LOOPS_LOWERING_PLAN_MODULE_PLAN_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hlo/ir/element_type.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"
#include "loops/ir/program.h"

namespace hone::loops {

// Index into PlanFunction::slots.
using SlotId = int32_t;

// An array of a function: dense, row-major, and 64-byte aligned if it is in the
// arena. Kernels may view its bytes with other dimensions.
struct Slot {
  hlo::ShapePtr shape;
  // The values of a constant; null otherwise.
  hlo::LiteralPtr literal;
  // The offset in the function's arena; -1 for parameters, results and
  // constants, which are not in the arena. Slots with disjoint lifetimes share
  // bytes.
  int64_t arena_offset = -1;
};

// A call of kernels[kernel]. Results of in-out arrays of the kernel are read,
// too.
struct KernelStep {
  int32_t kernel = 0;
  std::vector<SlotId> arguments;
  std::vector<SlotId> results;
};

// A call of a function of the backend's library
// (loops/lowering/library/library_calls.h).
struct LibraryStep {
  std::string function;
  std::vector<int64_t> attributes;
  std::vector<SlotId> arguments;
  std::vector<SlotId> results;
};

struct CopyStep {
  SlotId from = 0;
  SlotId to = 0;
};

// while (condition(state)) state = body(state). The condition's result is one
// pred; the body has a result for each state slot. A result that is a parameter
// of the body, of the same number, is a state that the body updates in place or
// does not change; the others alternate between two slots, so that they do not
// overlap the body's parameters while it runs.
struct WhileStep {
  int32_t condition = 0;  // functions
  int32_t body = 0;
  // Hold the state before and after the loop.
  std::vector<SlotId> state;
  // Hold the results of every other iteration; state[i] where the state does
  // not alternate.
  std::vector<SlotId> next;
  // The arena of condition and body; -1 if neither needs one.
  SlotId scratch = -1;
};

// results = branches[i](arguments[i]) with i = selector: a pred selects branch
// 0 if true and 1 if false; an s32 is the branch number, and the last branch if
// it is out of range. A result may be an argument of every branch, which each
// of them updates in place.
struct ConditionalStep {
  SlotId selector = 0;
  std::vector<int32_t> branches;  // functions
  std::vector<std::vector<SlotId>> arguments;
  std::vector<SlotId> results;
  // The arena of the branches; -1 if none needs one.
  SlotId scratch = -1;
};

using PlanStep =
    std::variant<KernelStep, LibraryStep, CopyStep, WhileStep, ConditionalStep>;

// A computation as a sequence of steps. Tuples are flattened: one slot per
// array.
struct PlanFunction {
  std::string name;
  std::vector<Slot> slots;
  std::vector<SlotId> parameters;
  // Distinct, and never constants. Every result is written by a step, except
  // those that the body of a while or the branch of a conditional passes on: a
  // result of these may be a parameter.
  std::vector<SlotId> results;
  std::vector<PlanStep> steps;
  // The arenas of callees are slots of this one.
  int64_t arena_bytes = 0;
};

// A result of the entry that the caller may put where an argument is: both then
// have one address. The plan computes the same if they are apart.
struct Donation {
  int32_t result = 0;
  int32_t parameter = 0;
  // The entry updates the array in place: its result is its parameter, and the
  // caller of the entry passes the address of the result for both, with a copy
  // of the argument there. Otherwise the entry writes the result before it has
  // read all of the argument, so that its caller passes a copy of an argument
  // that has the address of the result.
  bool in_place = false;
};

// A lowered module: kernels and the functions that call them.
struct ModulePlan {
  std::string name;
  // Without duplicates: repeated layers share kernels.
  std::vector<Program> kernels;
  std::vector<PlanFunction> functions;
  int32_t entry = 0;
  std::vector<Donation> donations;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_MODULE_PLAN_H_

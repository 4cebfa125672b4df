#ifndef HONE_TUNING_TASKS_KERNEL_ACTIONS_H_
#define HONE_TUNING_TASKS_KERNEL_ACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "loops/ir/program.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/transform.h"

namespace hone::tuning {

// The numbers of the actions of the task `kernel`: first those that have a
// schedule decide a choice by a value, then `transform`, `lowered`, and an
// equal share of all other numbers for the steps of each transformation.
//
// A step's number is the hash of its transformation, path and parameters within
// the share of the transformation. It is the same in every state, process and
// tuning of one space version, whatever else is legal, unless two legal steps
// of one state share a hash: NumberSteps then gives the later one another
// number. So a number means one step in a state, and a candidate means one
// script. In another state a number may mean another step of the same
// transformation, of about one in 10^6 steps.

// Has a schedule decide a choice (an index of loops::AllChoices) by a value; 0:
// by the rule. `time` is 0, everywhere, or the only time that it does
// (loops::ChoiceIndex).
struct ChoiceAction {
  size_t choice = 0;
  size_t time = 0;
  int64_t value = 0;

  size_t index() const { return loops::ChoiceIndex(choice, time); }
};
// By action.
absl::Span<const ChoiceAction> ChoiceActions();
int32_t TransformAction();
int32_t LoweredAction();
int32_t KernelActionCount();
// The numbers from KernelActionCount() on that stay free for problems of
// several kernels.
inline constexpr int32_t kNumbersForKernels = 1 << 16;
// Returns true for the number of a step.
inline bool IsStepAction(int32_t action) { return action > LoweredAction(); }
// The transformation of a step's number, an index of loops::AllTransforms.
size_t TransformOf(int32_t action);

// "tile_rows=4", "tile_rows@2=4", "lowered", or for steps "split#01f0c2a": the
// transformation and the number within it.
std::string KernelActionName(int32_t action);

// The hash of a step; further ones for an `attempt` above 0.
uint64_t HashOfStep(const loops::Step& step, int attempt);

using StepHash =
    absl::FunctionRef<uint64_t(const loops::Step& step, int attempt)>;
// Returns distinct numbers below `span` for distinct steps of one
// transformation, at most `span` of them: the hash of attempt 0 modulo `span`
// for every first step that has it; for others, in order, that of the first
// attempt whose number is free. [steps]
std::vector<int32_t> NumberSteps(absl::Span<const loops::Step> steps,
                                 int32_t span, StepHash hash = HashOfStep);

// The legal steps of a program and their actions: the steps that
// transformations enumerate, and those of a schedule, which need not be among
// them, where they are legal.
class KernelSteps {
 public:
  struct NumberedStep {
    int32_t action = 0;
    loops::Step step;
  };

  // The arguments must outlive this.
  KernelSteps(const loops::Program& program, const loops::Machine& machine,
              absl::Span<const loops::Step> schedule)
      : program_(program), machine_(machine), schedule_(schedule) {}

  // Returns the legal steps of a transformation: the schedule's first, then
  // those enumerated.
  std::vector<NumberedStep> OfTransform(size_t transform) const;
  // Returns the legal step with that number, or nothing.
  std::optional<loops::Step> Find(int32_t action) const;
  // Returns the action of a legal step, or nothing.
  std::optional<int32_t> ActionOf(const loops::Step& step) const;

 private:
  // The first step of the schedule with that hash, if it is legal. It has that
  // number whatever is enumerated.
  std::optional<loops::Step> FindInSchedule(int32_t action) const;

  const loops::Program& program_;
  const loops::Machine& machine_;
  const absl::Span<const loops::Step> schedule_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_ACTIONS_H_

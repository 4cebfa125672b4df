#ifndef HONE_LOOPS_SCHEDULES_ADJACENT_STEPS_H_
#define HONE_LOOPS_SCHEDULES_ADJACENT_STEPS_H_

#include <optional>

#include "loops/schedules/nest.h"
#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Convolutions for instructions that take several steps of the sum at once
// (interleaved_panels.h): the steps are input channels, so many of which are
// adjacent in a copy of the image. The window does, too, if its number of
// columns is divisible, but many are three or seven wide.

// Extends sums over input channels whose number the instruction does not divide
// by channels of zeros, where the copies of PadInputs will have these.
void PadChannels(Scheduler& scheduler);

// Makes the copies, or changes the layout of those that PadInputs made. The
// loop over adjacent channels is then one of the sum.
void BlockChannels(Scheduler& scheduler);

// Returns the loop over steps of the sum that are adjacent in an operand and as
// many as one instruction takes, in contractions with further sums.
std::optional<VarId> AdjacentSteps(const Program& program,
                                   const Machine& machine,
                                   const Contraction& contraction);

// Copies `factor`, the other operand, in front of the nest at `nest`, so that
// `step` is its last dimension, after those that move with the result.
bool PackAdjacentSteps(Scheduler& scheduler, const Path& nest,
                       const Contraction& contraction, const Access& factor,
                       VarId step);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_ADJACENT_STEPS_H_

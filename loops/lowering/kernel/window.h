#ifndef HONE_LOOPS_LOWERING_KERNEL_WINDOW_H_
#define HONE_LOOPS_LOWERING_KERNEL_WINDOW_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/attributes.h"

namespace hone::loops {

// The output positions o and taps k of a window dimension that read elements of
// the input, and not the holes of a dilated one: with o = output_start +
// output_step · i and k = tap_start + tap_step · j, tap k of the window at o
// sees the input element input_start + input_per_output · i + input_per_tap ·
// j, or padding where that is out of bounds.
struct WindowPhase {
  int64_t output_start = 0;
  int64_t output_step = 1;
  int64_t output_count = 0;
  int64_t tap_start = 0;
  int64_t tap_step = 1;
  // 0 if all taps read holes.
  int64_t tap_count = 0;
  int64_t input_start = 0;
  int64_t input_per_output = 0;
  int64_t input_per_tap = 0;
};

// Each phase has a nest of its own. More nests than these take long to compile.
constexpr double kManyPhases = 64;

// The number of combinations of one phase per dimension.
double CountPhases(const hlo::Window& window);

// The phases that together cover every output position once; a single one
// unless the base is dilated.
std::vector<WindowPhase> PhasesOf(const hlo::WindowDimension& window,
                                  int64_t output_size);

// Every combination of one phase per dimension, the last dimension fastest. A
// window without dimensions has one empty combination.
std::vector<std::vector<WindowPhase>> PhaseChoices(
    const hlo::Window& window, const hlo::DimensionVector& output_sizes);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_WINDOW_H_

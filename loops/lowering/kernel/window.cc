#include "loops/lowering/kernel/window.h"

#include <numeric>

namespace hone::loops {

double CountPhases(const hlo::Window& window) {
  double phases = 1;
  for (const hlo::WindowDimension& w : window) {
    phases *= static_cast<double>(w.base_dilation /
                                  std::gcd(w.stride, w.base_dilation));
  }
  return phases;
}

std::vector<WindowPhase> PhasesOf(const hlo::WindowDimension& w,
                                  int64_t output_size) {
  const int64_t base = w.base_dilation;
  // The period, in outputs and in taps, of the pattern of holes.
  const int64_t output_period = base / std::gcd(w.stride, base);
  const int64_t tap_period = base / std::gcd(w.window_dilation, base);
  std::vector<WindowPhase> phases;
  for (int64_t o = 0; o < output_period && o < output_size; ++o) {
    WindowPhase phase;
    phase.output_start = o;
    phase.output_step = output_period;
    phase.output_count = (output_size - o + output_period - 1) / output_period;
    phase.tap_step = tap_period;
    phase.input_per_output = w.stride * output_period / base;
    phase.input_per_tap = w.window_dilation * tap_period / base;
    for (int64_t k = 0; k < tap_period && k < w.size; ++k) {
      const int64_t dilated =
          o * w.stride + k * w.window_dilation - w.padding_low;
      if (dilated % base != 0) continue;
      phase.tap_start = k;
      phase.tap_count = (w.size - k + tap_period - 1) / tap_period;
      phase.input_start = dilated / base;
      break;
    }
    phases.push_back(phase);
  }
  return phases;
}

std::vector<std::vector<WindowPhase>> PhaseChoices(
    const hlo::Window& window, const hlo::DimensionVector& output_sizes) {
  std::vector<std::vector<WindowPhase>> choices = {{}};
  for (size_t d = 0; d < window.size(); ++d) {
    std::vector<std::vector<WindowPhase>> longer;
    for (const std::vector<WindowPhase>& choice : choices) {
      for (const WindowPhase& phase : PhasesOf(window[d], output_sizes[d])) {
        longer.push_back(choice);
        longer.back().push_back(phase);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

}  // namespace hone::loops

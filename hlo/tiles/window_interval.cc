#include "hlo/tiles/window_interval.h"

#include <algorithm>

namespace hone::hlo {
namespace {

// Products of two attributes and sums of a few of them fit.
using Wide = __int128;

// The quotient rounded down; `b` is positive.
Wide FloorDivideWide(Wide a, Wide b) {
  return a / b - static_cast<Wide>(a % b != 0 && a < 0);
}

Wide CeilDivideWide(Wide a, Wide b) { return -FloorDivideWide(-a, b); }

int64_t AtLeastOne(int64_t value) { return std::max<int64_t>(value, 1); }

}  // namespace

Interval WindowInterval(const Interval& outputs, const WindowDimension& window,
                        int64_t size) {
  if (outputs.size == 0 || window.size < 1) return {0, 0};
  const Wide first = Wide{outputs.start} * window.stride - window.padding_low;
  const Wide last = Wide{outputs.end() - 1} * window.stride -
                    window.padding_low +
                    Wide{window.size - 1} * window.window_dilation;
  const int64_t dilation = AtLeastOne(window.base_dilation);
  return ClippedInterval(CeilDivideWide(first, dilation),
                         FloorDivideWide(last, dilation), size);
}

Interval WindowsOver(const Interval& inputs, const WindowDimension& window,
                     int64_t count) {
  if (inputs.size == 0) return {0, 0};
  const int64_t stride = AtLeastOne(window.stride);
  const Wide first = Wide{inputs.start} + window.padding_low - window.size + 1;
  const Wide last = Wide{inputs.end() - 1} + window.padding_low;
  return ClippedInterval(CeilDivideWide(first, stride),
                         FloorDivideWide(last, stride), count);
}

Interval PaddedInterval(const Interval& outputs,
                        const PaddingDimension& padding, int64_t size) {
  if (outputs.size == 0) return {0, 0};
  const Wide step = Wide{std::max<int64_t>(padding.interior, 0)} + 1;
  return ClippedInterval(
      CeilDivideWide(Wide{outputs.start} - padding.low, step),
      FloorDivideWide(Wide{outputs.end() - 1} - padding.low, step), size);
}

}  // namespace hone::hlo

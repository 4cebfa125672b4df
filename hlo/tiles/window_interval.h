#ifndef HONE_HLO_TILES_WINDOW_INTERVAL_H_
#define HONE_HLO_TILES_WINDOW_INTERVAL_H_

#include <cstdint>

#include "hlo/ir/attributes.h"
#include "hlo/tiles/box.h"

namespace hone::hlo {

// Index arithmetic of windows and padding, in one dimension. Attributes may
// have any values.

// The indices below `size` of the operand that windows at the indices `outputs`
// of the result see: from the first to the last, padding left out.
Interval WindowInterval(const Interval& outputs, const WindowDimension& window,
                        int64_t size);

// The windows, of `count`, that see the indices `inputs` of an operand without
// dilation; some between the first and the last may see none of them.
Interval WindowsOver(const Interval& inputs, const WindowDimension& window,
                     int64_t count);

// The indices below `size` of the operand that a padded array has at `outputs`.
Interval PaddedInterval(const Interval& outputs,
                        const PaddingDimension& padding, int64_t size);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_WINDOW_INTERVAL_H_

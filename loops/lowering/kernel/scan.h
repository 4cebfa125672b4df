#ifndef HONE_LOOPS_LOWERING_KERNEL_SCAN_H_
#define HONE_LOOPS_LOWERING_KERNEL_SCAN_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// A reduce-window whose windows are the prefixes or the suffixes of the lines
// along one dimension, such as a cumulative sum.
struct Scan {
  size_t dimension = 0;
  // The windows are suffixes.
  bool is_reversed = false;
};

// Matches the window of a reduce-window over an array of dimensions `sizes`.
std::optional<Scan> AsScan(const hlo::Window& window,
                           const hlo::DimensionVector& sizes);

// Writes the loops of such a reduce-window, which take time linear in the size
// of the array. Several lines, or several parts of a line, run side by side to
// hide the latency of the region. Errors: Unimplemented.
absl::Status WriteScan(KernelWriter& writer, Nest& nest, hlo::InstructionId id,
                       const Scan& scan);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_SCAN_H_

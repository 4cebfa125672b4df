#ifndef HONE_GRAPHS_STEP_STEP_BOUNDS_H_
#define HONE_GRAPHS_STEP_STEP_BOUNDS_H_

#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"

namespace hone::graphs {

// Lower bounds of the time of a step in seconds, up to rounding, for any
// placement and any order of these kernels.
struct StepBounds {
  // The longest path, each kernel on the device that suits it best, without
  // transfers.
  double critical_path = 0;
  // All kernels, each on the device that suits it best, shared by all devices
  // as if they could be cut in pieces.
  double work = 0;
  // Either all kernels run on one device, which takes the time of all of them
  // on the fastest, or, as the graph hangs together, some result is sent: the
  // shortest path through any transfer at its fastest. 0 for a graph of several
  // parts.
  double communication = 0;

  // The best of them.
  double greatest() const;
};

// Linear time but for devices².
StepBounds LowerBounds(const KernelGraph& kernels, const DeviceTimes& times);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_STEP_BOUNDS_H_

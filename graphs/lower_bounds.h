#ifndef HONE_GRAPHS_LOWER_BOUNDS_H_
#define HONE_GRAPHS_LOWER_BOUNDS_H_

#include "graphs/device_graph.h"

namespace hone::graphs {

// Lower bounds of the max load, up to rounding, that hold for every assignment
// that CheckAssignment accepts, contiguous or not. Transfers count as free. A
// bound is infinite only if no assignment is valid.
struct LoadBounds {
  // All work shared as if color classes could be cut in pieces: of the shares
  // of the classes on accelerators and CPU cores that make the mean load of
  // either kind of device least.
  double shared_work = 0;
  // The largest time of a color class on the kind of device that suits it best.
  double largest_class = 0;
  // The mean load of the CPU cores if they take what accelerators do not
  // support, and of the rest the bytes that exceed the accelerators' memory,
  // those that take a core the least time first; 0 if the memory holds all.
  double memory = 0;

  // The best of them.
  double greatest() const;
};

// Time O(nodes log nodes).
LoadBounds LowerBounds(const DeviceGraph& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_LOWER_BOUNDS_H_

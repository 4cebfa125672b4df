#include "backends/cluster_sim/timeline.h"

namespace hone::backends {

void Timeline::OnKernel(graphs::KernelIndex kernel, int32_t device,
                        double begin, double end) {
  kernels_.push_back({kernel, device, begin, end});
}

void Timeline::OnTransfer(graphs::KernelIndex kernel, int32_t from, int32_t to,
                          double bytes, double begin, double end) {
  transfers_.push_back({kernel, from, to, bytes, begin, end});
}

void Timeline::OnMemory(int32_t device, double seconds, double bytes) {
  memory_.push_back({device, seconds, bytes});
}

}  // namespace hone::backends

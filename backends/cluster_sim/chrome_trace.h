#ifndef HONE_BACKENDS_CLUSTER_SIM_CHROME_TRACE_H_
#define HONE_BACKENDS_CLUSTER_SIM_CHROME_TRACE_H_

#include <cstdint>
#include <string>

#include "backends/cluster_sim/timeline.h"
#include "graphs/op_graph.h"
#include "graphs/step/kernel_graph.h"

namespace hone::backends {

// Returns a timeline as JSON that Perfetto and chrome://tracing open, one event
// a line.
//
// Process 1 + d is device d, with its kernels as thread 0 and its memory as a
// counter; the last process holds the transfers, with a thread for each ordered
// pair of devices that has any. Kernels are named after their roots. Events
// that take no time are left out. Times are in microseconds.
//
// `kernels` are those of `graph` that the timeline is about. Text that is not
// UTF-8 becomes replacement characters.
// Source: Google, "Trace Event Format", 2016.
std::string PrintChromeTrace(const Timeline& timeline,
                             const graphs::OpGraph& graph,
                             const graphs::KernelGraph& kernels,
                             int32_t device_count);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CLUSTER_SIM_CHROME_TRACE_H_

#ifndef HONE_BACKENDS_PROCESS_CHECK_REPORT_H_
#define HONE_BACKENDS_PROCESS_CHECK_REPORT_H_

#include "absl/status/status.h"

#include "backends/kernel_measurer.h"

namespace hone::backends {

// Returns OK if the report answers the request: one timing for each candidate,
// the baseline and the calibration if they were asked for, and numbers that a
// measurement can have. A worker is another program, which may be wrong.
// Errors: Internal, which names the first fault.
absl::Status CheckReport(const KernelRequest& request,
                         const KernelReport& report);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_CHECK_REPORT_H_

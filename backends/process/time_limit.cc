#include "backends/process/time_limit.h"

namespace hone::backends {
namespace {

// The children that prepare a kernel: two evaluations, the baseline's
// compilation and its check.
constexpr int64_t kPreparations = 4;
// The time limit of the child that calibrates.
constexpr absl::Duration kCalibration = absl::Seconds(60);
// The start of the process, the parsing of the module, the exchange.
constexpr absl::Duration kOverhead = absl::Seconds(60);

}  // namespace

absl::Duration TimeLimit(const KernelRequest& request) {
  // What is simulated takes no children: the baseline, and each candidate.
  if (IsForTpu(request.form)) {
    return kOverhead +
           (1 + static_cast<int64_t>(request.candidate_scripts.size())) *
               request.timeout;
  }
  const int64_t children =
      kPreparations + (request.time_baseline ? 1 : 0) +
      // One compiles, one measures.
      2 * static_cast<int64_t>(request.candidate_scripts.size());
  return kOverhead + (request.calibrate ? kCalibration : absl::ZeroDuration()) +
         children * request.timeout;
}

}  // namespace hone::backends

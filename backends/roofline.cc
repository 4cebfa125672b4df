#include "backends/roofline.h"

#include <algorithm>

#include "hlo/cost_analysis.h"

namespace hone::backends {

LeastWork LeastWorkOf(const hlo::Module& module) {
  LeastWork work;
  work.flops = hlo::CostAnalysis(module).ModuleCosts().flops;
  const hlo::Computation& entry = module.entry_computation();
  for (hlo::InstructionId id : entry.parameters()) {
    work.bytes_read += static_cast<double>(entry[id].shape().byte_size());
  }
  work.bytes_written =
      static_cast<double>(entry[entry.root()].shape().byte_size());
  return work;
}

double RoofNanoseconds(const Calibration& calibration, const LeastWork& work) {
  const double bytes = work.bytes_read + work.bytes_written;
  const auto level = std::find_if(
      calibration.levels.begin(), calibration.levels.end() - 1,
      [&](const auto& l) { return bytes <= static_cast<double>(l.bytes); });
  // Between reading alone and copying, by how much is written.
  const double write_share =
      bytes > 0 ? std::min(1.0, 2 * work.bytes_written / bytes) : 0;
  const double ns_per_byte =
      (1 - write_share) / level->read_gbps + write_share / level->copy_gbps;
  return std::max(work.flops / calibration.peak_gflops, bytes * ns_per_byte);
}

}  // namespace hone::backends

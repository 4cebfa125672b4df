#include "backends/roofline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hlo/analysis/cost_analysis.h"

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

double RooflineNs(const Calibration& calibration, const LeastWork& work) {
  const double bytes = work.bytes_read + work.bytes_written;
  // Interpolates between pure reading and copying by the share of written
  // bytes.
  const double write_share =
      bytes > 0 ? std::min(1.0, 2 * work.bytes_written / bytes) : 0;
  const auto ns_per_byte = [&](const Calibration::Level& level) {
    return (1 - write_share) / level.read_gbps + write_share / level.copy_gbps;
  };
  const std::vector<Calibration::Level>& levels = calibration.levels;
  const auto above =
      std::find_if(levels.begin(), levels.end(), [&](const auto& level) {
        return bytes <= static_cast<double>(level.bytes);
      });
  double rate = 0;
  if (above == levels.begin() || above == levels.end()) {
    rate = ns_per_byte(above == levels.end() ? levels.back() : *above);
  } else {
    const auto below = above - 1;
    const double position =
        std::log2(bytes / static_cast<double>(below->bytes)) /
        std::log2(static_cast<double>(above->bytes) /
                  static_cast<double>(below->bytes));
    rate =
        (1 - position) * ns_per_byte(*below) + position * ns_per_byte(*above);
  }
  return std::max(work.flops / calibration.peak_gflops, bytes * rate);
}

}  // namespace hone::backends

#include "backends/tpu_sim/simulator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "base/saturating.h"
#include "base/status_macros.h"
#include "hlo/tiles/register_layout.h"

namespace hone::backends {
namespace {

constexpr int64_t kDefaultPart = 2;

// The dimensions of the space in the order in which the default tile grows:
// those of the result from the minor one, the reduced ones after the second.
std::vector<size_t> GrowthOrder(const hlo::TiledKernel& kernel) {
  const size_t outputs = kernel.output_dimensions().size();
  std::vector<size_t> order;
  const hlo::Shape* const shape =
      kernel.primary() == hlo::kNoInstruction
          ? nullptr
          : hlo::TiledShape(kernel.computation()[kernel.primary()]);
  for (size_t i = 0; i < outputs; ++i) {
    order.push_back(
        shape->layout() == nullptr
            ? outputs - 1 - i
            : static_cast<size_t>(shape->layout()->minor_to_major[i]));
  }
  std::vector<size_t> reduced;
  for (size_t i = 0; i < kernel.reduction_dimensions().size(); ++i) {
    reduced.push_back(outputs + i);
  }
  order.insert(
      order.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(outputs, 2)),
      reduced.rbegin(), reduced.rend());
  return order;
}

int64_t& SizeAt(hlo::Tile& tile, size_t dimension) {
  const size_t outputs = tile.output.size();
  return dimension < outputs ? tile.output[dimension]
                             : tile.reduction[dimension - outputs];
}

}  // namespace

space::Measurement ToMeasurement(const KernelTime& time) {
  space::Measurement measurement;
  if (time.overflow_bytes > 0) {
    measurement.outcome = space::Outcome::kInvalid;
    measurement.violation = static_cast<double>(time.overflow_bytes);
    measurement.message =
        absl::StrCat("needs ", time.vmem_bytes, " bytes of VMEM, ",
                     time.overflow_bytes, " more than there are");
    return measurement;
  }
  measurement.cost = time.ns;
  return measurement;
}

absl::StatusOr<KernelTime> KernelSimulator::Simulate(
    const hlo::KernelConfig& config, const SimulateOptions& options) const {
  HONE_RETURN_IF_ERROR(space_.Check(config));
  TileProgram program(kernel_, config, tpu_);
  KernelTime time;
  time.vmem_bytes = program.vmem_bytes();
  time.overflow_bytes =
      std::max<int64_t>(0, program.vmem_bytes() - tpu_.vmem_bytes);
  if (time.overflow_bytes > 0) return time;
  if (options.by_cycles) {
    HONE_ASSIGN_OR_RETURN(time.run, RunByCycles(program, options.max_cycles));
  } else {
    time.run = RunByEvents(program);
  }
  time.run.is_exact = time.run.is_exact && program.has_exact_classes();
  time.ns = static_cast<double>(time.run.cycles) * 1e9 / tpu_.clock_hz;
  if (options.noise > 0) {
    time.ns *= std::exp(options.noise * Rng(options.seed).Normal());
  }
  return time;
}

int64_t KernelSimulator::VmemBytes(const hlo::KernelConfig& config) const {
  return TileProgram(kernel_, config, tpu_).vmem_bytes();
}

hlo::KernelConfig KernelSimulator::DefaultConfig() const {
  hlo::KernelConfig config;
  config.tile = space_.TileAt(0);
  // Of what only fits once there is nothing to overlap.
  if (VmemBytes(config) > tpu_.vmem_bytes) config.buffers = 1;
  const std::vector<size_t> order = GrowthOrder(kernel_);
  for (bool grows = true; grows;) {
    grows = false;
    for (const size_t dimension : order) {
      const std::vector<int64_t>& sizes = space_.sizes()[dimension];
      const int64_t now = SizeAt(config.tile, dimension);
      if (now == sizes.back()) continue;
      const auto next = std::lower_bound(sizes.begin(), sizes.end(),
                                         SaturatingMultiply(2, now));
      hlo::KernelConfig larger = config;
      SizeAt(larger.tile, dimension) =
          next == sizes.end() ? sizes.back() : *next;
      if (VmemBytes(larger) > tpu_.vmem_bytes / kDefaultPart) continue;
      config = larger;
      grows = true;
    }
  }
  return config;
}

absl::StatusOr<KernelTime> Simulate(const hlo::Module& kernel,
                                    const hlo::KernelConfig& config,
                                    const Tpu& tpu,
                                    const SimulateOptions& options) {
  return KernelSimulator(kernel, tpu).Simulate(config, options);
}

}  // namespace hone::backends

#include "costmodels/tpu_analytical.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/tiles/matrix_product.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/tile_regions.h"

namespace hone::costmodels {
namespace {

using hlo::Instruction;
using hlo::Opcode;
using hlo::Region;
using hlo::Shape;

// Operations of a vector register for each kind of function.
constexpr double kTranscendentalOperations = 8;

double Bytes(const Instruction& instruction, const Region& region) {
  const Shape* const shape = hlo::TiledShape(instruction);
  if (shape == nullptr) {
    return static_cast<double>(instruction.shape().byte_size());
  }
  if (region.touched == 0) return 0;
  const auto padded = static_cast<double>(hlo::PaddedBytes(*shape, region.box));
  const double touched =
      static_cast<double>(region.touched) *
      static_cast<double>(hlo::ByteWidth(shape->element_type()));
  return region.touched < hlo::Volume(region.box) ? std::min(padded, touched)
                                                  : padded;
}

// The cycles of one array of 128 × 128, padded.
double MatrixCycles(const hlo::MatrixProduct& p) {
  return p.terms * p.products *
         (hlo::kSublanes * std::ceil(p.m / hlo::kSublanes) *
          std::ceil(p.k / hlo::kLanes) * std::ceil(p.n / hlo::kLanes));
}

}  // namespace

TpuTotals TpuAnalytical::TotalsOf(const hlo::KernelConfig& config,
                                  TileWalk& walk) const {
  const hlo::TileRegions& tiles = walk.tiles();
  const hlo::Computation& computation = kernel_.computation();
  TpuTotals totals;
  totals.overlaps = config.buffers > 1;
  totals.tiles = static_cast<double>(tiles.tile_count());
  if (totals.tiles == 0) return totals;
  // A tile in the middle stands for all.
  std::vector<int64_t> middle;
  for (const int64_t count : tiles.grid()) middle.push_back(count > 2 ? 1 : 0);
  const hlo::IdMap<Region>& regions = walk.At(middle);
  const size_t outputs = config.tile.output.size();
  double reduction_tiles = 1;
  for (size_t d = outputs; d < middle.size(); ++d) {
    reduction_tiles *= static_cast<double>(tiles.grid()[d]);
  }
  // The loops from the outermost one.
  std::vector<size_t> loops;
  for (size_t i = 0; i < middle.size(); ++i) {
    const bool reverses =
        i < outputs && config.order == hlo::GridOrder::kColumn;
    loops.push_back(reverses ? outputs - 1 - i : i);
  }
  // How often an array is transferred: once for each step of the innermost loop
  // that changes its tile, and of all loops outside of that.
  const auto add_transfers = [&](hlo::InstructionId id,
                                 const std::vector<bool>& changes) {
    double times = 1;
    double now = 1;
    bool is_fixed = true;
    for (const size_t d : loops) {
      now *= static_cast<double>(tiles.grid()[d]);
      if (!changes[d]) continue;
      times = now;
      is_fixed = false;
    }
    const double bytes = Bytes(computation[id], regions.at(id));
    totals.bytes += times * bytes;
    totals.tile_bytes += bytes;
    totals.vmem_bytes += (is_fixed ? 1 : config.buffers) * bytes;
  };
  std::vector<const hlo::IdMap<Region>*> moved;
  for (size_t d = 0; d < middle.size(); ++d) {
    std::vector<int64_t> position(middle.size());
    position[d] = tiles.grid()[d] - 1;
    moved.push_back(&walk.At(position));
  }
  const hlo::IdMap<Region>& first =
      walk.At(std::vector<int64_t>(middle.size()));
  const auto changes_of = [&](hlo::InstructionId id) {
    std::vector<bool> changes;
    for (const hlo::IdMap<Region>* const there : moved) {
      changes.push_back(there->at(id).box != first.at(id).box);
    }
    return changes;
  };
  for (const hlo::InstructionId id : kernel_.instructions()) {
    const Instruction& instruction = computation[id];
    const Region& region = regions.at(id);
    if (region.touched == 0) continue;
    const double steps =
        kernel_.IsEpilogue(id) ? totals.tiles / reduction_tiles : totals.tiles;
    double operations = 1;
    switch (instruction.opcode()) {
      case Opcode::kParameter:
        add_transfers(id, changes_of(id));
        continue;
      case Opcode::kConstant:
      case Opcode::kBitcast:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        continue;
      case Opcode::kDot:
        totals.matrix_cycles += steps * MatrixCycles(hlo::MatrixProductOfDot(
                                            computation, instruction, regions));
        continue;
      case Opcode::kConvolution:
        if (hlo::IsDepthwise(computation, instruction)) {
          operations = 2;
          for (const hlo::WindowDimension& d :
               *instruction.attributes().window) {
            operations *= static_cast<double>(d.size);
          }
          break;
        }
        totals.matrix_cycles +=
            steps *
            MatrixCycles(hlo::MatrixProductOfConvolution(instruction, regions));
        continue;
      case Opcode::kReduce:
        totals.vector_operations +=
            steps * hlo::UnpackedRegisters(computation[instruction.operand(0)],
                                           regions.at(instruction.operand(0)));
        continue;
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
        for (const hlo::WindowDimension& d : *instruction.attributes().window) {
          operations *= static_cast<double>(d.size);
        }
        break;
      default:
        if (hlo::IsTranscendental(instruction.opcode())) {
          operations = kTranscendentalOperations;
        }
    }
    totals.vector_operations +=
        steps * operations * hlo::UnpackedRegisters(instruction, region);
  }
  for (const hlo::InstructionId id : kernel_.results()) {
    add_transfers(id, changes_of(id));
  }
  return totals;
}

double TpuAnalytical::PredictNs(const TpuTotals& totals) const {
  const double bytes_per_cycle = peaks_.hbm_bytes_per_second / peaks_.clock_hz *
                                 constants_.bandwidth_share;
  const double transfer = totals.bytes / bytes_per_cycle;
  const double compute = std::max(
      totals.matrix_cycles / (peaks_.matrix_units * constants_.matrix_share),
      totals.vector_operations /
          (peaks_.vector_slots * constants_.vector_share));
  // The first tile's data and the last one's results overlap with nothing.
  const double lone = totals.tile_bytes / bytes_per_cycle;
  const double steady =
      totals.overlaps ? std::max(transfer, compute) + lone : transfer + compute;
  const double cycles =
      constants_.launch_cycles + steady + constants_.tile_cycles * totals.tiles;
  return cycles * 1e9 / peaks_.clock_hz;
}

hlo::KernelConfig TpuAnalytical::BestConfig(
    const hlo::TileSpace& space,
    const std::function<bool(const hlo::KernelConfig&)>& fits,
    int64_t limit) const {
  const int64_t count = space.tile_count();
  const int64_t tried = std::min(count, limit);
  std::vector<std::pair<double, int64_t>> order;
  for (int64_t i = 0; i < tried; ++i) {
    const int64_t index = count / tried * i;
    hlo::KernelConfig config;
    config.tile = space.TileAt(index);
    order.emplace_back(PredictNs(config), index);
  }
  std::sort(order.begin(), order.end());
  hlo::KernelConfig config;
  for (const auto& [ns, index] : order) {
    config.tile = space.TileAt(index);
    if (fits(config)) return config;
  }
  config.tile = space.TileAt(0);
  return config;
}

}  // namespace hone::costmodels

#include "costmodels/tpu_analytical.h"

#include <algorithm>
#include <cmath>

#include "hlo/tiles/matrix_product.h"
#include "hlo/tiles/network_stages.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/register_loops.h"

namespace hone::costmodels {
namespace {

using hlo::Instruction;
using hlo::Opcode;
using hlo::Region;
using hlo::Shape;

// Operations of a vector register for each kind of function.
constexpr double kTranscendentalOperations = 8;

// Bytes of the box of a region, padded, or of the elements that are touched.
double Bytes(const Instruction& instruction, const Region& region,
             bool is_touched_only) {
  const Shape* const shape = hlo::TiledShape(instruction);
  if (shape == nullptr) {
    return static_cast<double>(instruction.shape().byte_size());
  }
  if (region.touched == 0) return 0;
  const auto padded = static_cast<double>(hlo::PaddedBytes(*shape, region.box));
  const double touched =
      static_cast<double>(region.touched) *
      static_cast<double>(hlo::ByteWidth(shape->element_type()));
  return is_touched_only ? std::min(padded, touched) : padded;
}

// The cycles of one array of 128 × 128, padded.
double MatrixCycles(const hlo::MatrixProduct& p) {
  return p.passes * p.terms * p.products *
         (hlo::kSublanes * std::ceil(p.m / hlo::kSublanes) *
          std::ceil(p.k / hlo::kLanes) * std::ceil(p.n / hlo::kLanes));
}

}  // namespace

TpuConstants FittedConstants(absl::string_view tpu) {
  if (tpu == "v4") return {1.0, 0.563, 0.315, 2200, 460};
  if (tpu == "v5e") return {1.0, 0.554, 0.157, 2295, 557};
  return {};
}

TpuTotals TpuAnalytical::TotalsOf(const hlo::KernelConfig& config,
                                  const TileWalk& walk) const {
  TpuTotals totals;
  totals.overlaps = config.buffers > 1;
  totals.tiles = walk.tile_count();
  for (const hlo::InstructionId id : kernel_.instructions()) {
    if (kernel_.computation()[id].opcode() == Opcode::kParameter) {
      AddTransfers(id, config, walk, totals);
    }
    for (const TileWalk::Class& tiles : walk.classes()) {
      AddWork(id, tiles.regions, walk.Runs(tiles, id), totals);
    }
  }
  for (const hlo::InstructionId id : kernel_.results()) {
    AddTransfers(id, config, walk, totals);
  }
  return totals;
}

void TpuAnalytical::AddTransfers(hlo::InstructionId id,
                                 const hlo::KernelConfig& config,
                                 const TileWalk& walk,
                                 TpuTotals& totals) const {
  double largest = 0;
  double mean = 0;
  bool stays = true;
  for (const TileWalk::Class& tiles : walk.classes()) {
    const TileWalk::Copies copies = walk.CopiesOf(tiles, id, peaks_.vmem_bytes);
    const double bytes = Bytes(kernel_.computation()[id], tiles.regions.at(id),
                               copies.is_touched_only);
    const double share = tiles.tiles / walk.tile_count();
    largest = std::max(largest, bytes);
    mean += bytes * share;
    totals.bytes += bytes * share * copies.count;
    if (copies.count > 1) stays = false;
  }
  totals.tile_bytes += mean;
  totals.vmem_bytes += (stays ? 1 : config.buffers) * largest;
}

void TpuAnalytical::AddWork(hlo::InstructionId id,
                            const hlo::IdMap<Region>& tile, double runs,
                            TpuTotals& totals) const {
  const hlo::Computation& computation = kernel_.computation();
  const Instruction& instruction = computation[id];
  const Region& region = tile.at(id);
  if (region.touched == 0 || hlo::IsFree(instruction)) return;
  double operations = hlo::NetworkStages(instruction);
  switch (instruction.opcode()) {
    case Opcode::kDot:
      totals.matrix_cycles += runs * MatrixCycles(hlo::MatrixProductOfDot(
                                         computation, instruction, tile));
      return;
    case Opcode::kConvolution:
      if (!hlo::IsDepthwise(computation, instruction)) {
        totals.matrix_cycles +=
            runs * MatrixCycles(hlo::MatrixProductOfConvolution(
                       computation, instruction, tile));
        return;
      }
      operations = 2 * hlo::WindowPositions(instruction);
      break;
    case Opcode::kReduce:
      totals.vector_operations +=
          runs * hlo::UnpackedRegisters(computation[instruction.operand(0)],
                                        tile.at(instruction.operand(0)));
      return;
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      operations = hlo::WindowPositions(instruction);
      break;
    default:
      if (hlo::IsTranscendental(instruction.opcode())) {
        operations = kTranscendentalOperations;
      }
  }
  totals.vector_operations +=
      runs * operations * hlo::UnpackedRegisters(instruction, region);
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

}  // namespace hone::costmodels

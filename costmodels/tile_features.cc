#include "costmodels/tile_features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "costmodels/log_scale.h"
#include "costmodels/tile_code.h"
#include "costmodels/tile_walk.h"
#include "hlo/tiles/matrix_product.h"
#include "hlo/tiles/network_stages.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/register_loops.h"

namespace hone::costmodels {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Region;
using hlo::Shape;

enum Feature : size_t {
  // The tile of the result along lanes, sublanes and other dimensions, that of
  // what is reduced, each with its share of the whole.
  kLane,
  kSublane,
  kMajor,
  kReduced,
  kLaneShare,
  kSublaneShare,
  kMajorShare,
  kReducedShare,
  // The flags.
  kColumnOrder,
  kOneBuffer,
  kTwoBuffers,
  kThreeBuffers,
  kUnroll,
  // The grid: all tiles, those of the reduction, and how much larger it is than
  // the result because the last tiles are cut off.
  kTiles,
  kReductionTiles,
  kRagged,
  // Transfers of a tile: bytes in and out, the pieces that they consist of, the
  // shortest of those; bytes kept in vector memory.
  kBytesIn,
  kBytesOut,
  kPieces,
  kShortestPiece,
  kVectorMemory,
  // Transfers of the kernel: bytes in, without what stays from one tile to the
  // next, bytes out, and copies.
  kAllBytesIn,
  kAllBytesOut,
  kAllCopies,
  kAllPieces,
  // Registers that a tile computes by simple functions, by transcendental ones,
  // reduces along lanes, along sublanes, moves between lanes, and loads and
  // stores; instructions that do it.
  kSimple,
  kTranscendental,
  kLaneReductions,
  kOtherReductions,
  kMoves,
  kLoadsAndStores,
  kInstructions,
  kAllSimple,
  kAllTranscendental,
  kAllLaneReductions,
  kAllMoves,
  kAllLoadsAndStores,
  // Products of a tile: rows, contracted elements and columns, the passes
  // through a systolic array, the steps that they take, and how well they fill
  // it.
  kRows,
  kContracted,
  kColumns,
  kPasses,
  kArraySteps,
  kArrayFill,
  kAllPasses,
  kAllArraySteps,
  // What the code does besides arithmetic (tile_code.h).
  kLaneBroadcasts,
  kRelayouts,
  kMisaligned,
  kIndexedRows,
  kUnpacked,
  kPartialLanes,
  kTransposedLeft,
  kTransposedRight,
  kStreamedRows,
  kPartialResults,
  kIterations,
  kPathSteps,
  kLive,
  // The logarithms of ratios that decide what limits the kernel: steps of the
  // array, and registers computed, by bytes transferred.
  kStepsByByte,
  kRegistersByByte,
  // The time by the analytical model, and the shares in it of transfers at the
  // peak of the memory, of matrix and of vector units.
  kAnalyticalTime,
  kTransferShare,
  kMatrixShare,
  kVectorShare,
  // The TPU: what the peaks are, by those of a v3.
  kClock,
  kMemoryRate,
  kMemoryBytes,
  kMatrixUnits,
  kVectorSlots,
  kFeatureCount,
};
constexpr const char* kNames[] = {"lane",
                                  "sublane",
                                  "major",
                                  "reduced",
                                  "lane_share",
                                  "sublane_share",
                                  "major_share",
                                  "reduced_share",
                                  "column_order",
                                  "one_buffer",
                                  "two_buffers",
                                  "three_buffers",
                                  "unroll",
                                  "tiles",
                                  "reduction_tiles",
                                  "ragged",
                                  "bytes_in",
                                  "bytes_out",
                                  "pieces",
                                  "shortest_piece",
                                  "vector_memory",
                                  "all_bytes_in",
                                  "all_bytes_out",
                                  "all_copies",
                                  "all_pieces",
                                  "simple",
                                  "transcendental",
                                  "lane_reductions",
                                  "other_reductions",
                                  "moves",
                                  "loads_and_stores",
                                  "instructions",
                                  "all_simple",
                                  "all_transcendental",
                                  "all_lane_reductions",
                                  "all_moves",
                                  "all_loads_and_stores",
                                  "rows",
                                  "contracted",
                                  "columns",
                                  "passes",
                                  "array_steps",
                                  "array_fill",
                                  "all_passes",
                                  "all_array_steps",
                                  "lane_broadcasts",
                                  "relayouts",
                                  "misaligned",
                                  "indexed_rows",
                                  "unpacked",
                                  "partial_lanes",
                                  "transposed_left",
                                  "transposed_right",
                                  "streamed_rows",
                                  "partial_results",
                                  "iterations",
                                  "path_steps",
                                  "live",
                                  "steps_by_byte",
                                  "registers_by_byte",
                                  "analytical_time",
                                  "transfer_share",
                                  "matrix_share",
                                  "vector_share",
                                  "clock",
                                  "memory_rate",
                                  "memory_bytes",
                                  "matrix_units",
                                  "vector_slots"};
static_assert(std::size(kNames) == kFeatureCount);

constexpr float kSizeDoublings = 16;
constexpr float kTileDoublings = 28;
constexpr float kTotalDoublings = 40;

double Product(const hlo::Box& box) {
  double product = 1;
  for (const hlo::Interval& interval : box) {
    product *= static_cast<double>(interval.size);
  }
  return product;
}

// What a tile does, in the mean, and all of them.
class Work {
 public:
  Work(const hlo::TiledKernel& kernel, const hlo::KernelConfig& config,
       const TileWalk& walk, const TpuPeaks& peaks,
       std::vector<float>& features)
      : kernel_(kernel),
        computation_(kernel.computation()),
        config_(config),
        walk_(walk),
        peaks_(peaks),
        features_(features) {}

  void Describe() {
    DescribeTile();
    DescribeGrid();
    for (const TileWalk::Class& tiles : walk_.classes()) {
      class_ = &tiles;
      for (const InstructionId id : kernel_.instructions()) {
        const double runs = walk_.Runs(tiles, id);
        CountTransfers(id, runs);
        CountWork(id, runs);
      }
    }
    Set(kBytesIn, LogScale(bytes_in_, kTileDoublings));
    Set(kBytesOut, LogScale(bytes_out_, kTileDoublings));
    Set(kPieces, LogScale(pieces_, kTileDoublings));
    Set(kShortestPiece, LogScale(shortest_piece_, kTileDoublings));
    Set(kAllBytesIn, LogScale(all_bytes_in_, kTotalDoublings));
    Set(kAllBytesOut, LogScale(all_bytes_out_, kTotalDoublings));
    Set(kAllCopies, LogScale(all_copies_, kTileDoublings));
    Set(kAllPieces, LogScale(all_pieces_, kTotalDoublings));
    SetCounts(kSimple, kAllSimple, simple_);
    SetCounts(kTranscendental, kAllTranscendental, transcendental_);
    SetCounts(kLaneReductions, kAllLaneReductions, lane_reductions_);
    SetCounts(kMoves, kAllMoves, moves_);
    SetCounts(kLoadsAndStores, kAllLoadsAndStores, loads_and_stores_);
    SetCounts(kPasses, kAllPasses, passes_);
    SetCounts(kArraySteps, kAllArraySteps, array_steps_);
    Set(kOtherReductions, LogScale(other_reductions_.tile, kTileDoublings));
    Set(kInstructions, LogScale(instructions_, kSizeDoublings));
    DescribeCode();
    const double bytes = 1 + all_bytes_in_ + all_bytes_out_;
    Set(kStepsByByte, LogRatio(array_steps_.all, bytes));
    Set(kRegistersByByte,
        LogRatio(simple_.all + transcendental_.all + moves_.all, bytes));
  }

 private:
  // Of a tile, and of the kernel.
  struct Count {
    double tile = 0;
    double all = 0;
  };
  void Add(double count, double runs, Count& to) {
    to.tile += count * Share();
    to.all += count * runs;
  }
  // The part of all tiles that are of the class at hand.
  double Share() const { return class_->tiles / walk_.tile_count(); }
  bool IsMostCommon() const { return class_ == &walk_.classes().front(); }
  const Region& At(InstructionId id) const { return class_->regions.at(id); }

  static float LogRatio(double a, double b) {
    return static_cast<float>(std::log2((1 + a) / (1 + b)) / kSizeDoublings);
  }

  void Set(size_t feature, float value) { features_[feature] = value; }
  void SetCounts(size_t of_tile, size_t of_all, const Count& count) {
    Set(of_tile, LogScale(count.tile, kTileDoublings));
    Set(of_all, LogScale(count.all, kTotalDoublings));
  }

  void DescribeCode() {
    const TileCode code = TileCodeOf(kernel_, config_, walk_);
    Set(kLaneBroadcasts, LogScale(code.lane_broadcasts, kTotalDoublings));
    Set(kRelayouts, LogScale(code.relayouts, kTotalDoublings));
    Set(kMisaligned, LogScale(code.misaligned, kTotalDoublings));
    Set(kIndexedRows, LogScale(code.indexed_rows, kTotalDoublings));
    Set(kUnpacked, LogScale(code.unpacked, kTotalDoublings));
    Set(kPartialLanes, LogScale(code.partial_lanes, kTotalDoublings));
    Set(kTransposedLeft, LogScale(code.transposed[0], kTotalDoublings));
    Set(kTransposedRight, LogScale(code.transposed[1], kTotalDoublings));
    Set(kStreamedRows, LogScale(code.streamed_rows, kTotalDoublings));
    Set(kPartialResults, LogScale(code.partial_results, kTotalDoublings));
    Set(kIterations, LogScale(code.iterations, kTotalDoublings));
    Set(kPathSteps, LogScale(code.path_steps, kTotalDoublings));
    Set(kLive, LogScale(code.live, kSizeDoublings));
  }

  void DescribeTile() {
    const hlo::Tile& tile = config_.tile;
    const auto sizes = kernel_.output_dimensions();
    hlo::RegisterDimensions registers;
    if (kernel_.primary() != hlo::kNoInstruction) {
      if (const Shape* const shape =
              hlo::TiledShape(computation_[kernel_.primary()])) {
        registers = hlo::RegisterDimensionsOf(*shape);
      }
    }
    double major = 1;
    double all_major = 1;
    for (size_t d = 0; d < tile.output.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      const auto own = static_cast<double>(tile.output[d]);
      const double share =
          own / static_cast<double>(std::max<int64_t>(sizes[d], 1));
      if (dimension == registers.lane) {
        Set(kLane, LogScale(own, kSizeDoublings));
        Set(kLaneShare, static_cast<float>(share));
      } else if (dimension == registers.sublane) {
        Set(kSublane, LogScale(own, kSizeDoublings));
        Set(kSublaneShare, static_cast<float>(share));
      } else {
        major *= own;
        all_major *= static_cast<double>(std::max<int64_t>(sizes[d], 1));
      }
    }
    Set(kMajor, LogScale(major, kSizeDoublings));
    Set(kMajorShare, static_cast<float>(major / all_major));
    double reduced = 1;
    double all_reduced = 1;
    for (size_t d = 0; d < tile.reduction.size(); ++d) {
      reduced *= static_cast<double>(tile.reduction[d]);
      all_reduced *= static_cast<double>(
          std::max<int64_t>(kernel_.reduction_dimensions()[d], 1));
    }
    Set(kReduced, LogScale(reduced, kSizeDoublings));
    Set(kReducedShare, static_cast<float>(reduced / all_reduced));
    Set(kColumnOrder, config_.order == hlo::GridOrder::kColumn ? 1 : 0);
    Set(kOneBuffer, config_.buffers == 1 ? 1 : 0);
    Set(kTwoBuffers, config_.buffers == 2 ? 1 : 0);
    Set(kThreeBuffers, config_.buffers >= 3 ? 1 : 0);
    constexpr float kUnrollDoublings = 4;
    Set(kUnroll, LogScale(config_.unroll, kUnrollDoublings));
  }

  void DescribeGrid() {
    const hlo::Tile& tile = config_.tile;
    const size_t outputs = tile.output.size();
    const auto grid = walk_.tiles().grid();
    double ragged = 1;
    const auto cover = [&](size_t at, int64_t own, int64_t size) {
      if (size <= 0) return;
      ragged *= static_cast<double>(grid[at]) * static_cast<double>(own) /
                static_cast<double>(size);
    };
    for (size_t d = 0; d < outputs; ++d) {
      cover(d, tile.output[d], kernel_.output_dimensions()[d]);
    }
    for (size_t d = 0; d < tile.reduction.size(); ++d) {
      cover(outputs + d, tile.reduction[d], kernel_.reduction_dimensions()[d]);
    }
    Set(kTiles, LogScale(walk_.tile_count(), kTileDoublings));
    Set(kReductionTiles, LogScale(walk_.reduction_tiles(), kSizeDoublings));
    Set(kRagged, static_cast<float>(std::min(std::log2(ragged), 2.0)));
  }

  void CountTransfers(InstructionId id, double runs) {
    const Instruction& instruction = computation_[id];
    const bool is_input = instruction.opcode() == Opcode::kParameter;
    const bool is_output =
        std::find(kernel_.results().begin(), kernel_.results().end(), id) !=
        kernel_.results().end();
    const Shape* const shape = hlo::TiledShape(instruction);
    const Region& region = At(id);
    if ((!is_input && !is_output) || shape == nullptr || region.touched == 0) {
      return;
    }
    auto bytes = static_cast<double>(hlo::PaddedBytes(*shape, region.box));
    auto piece = static_cast<double>(
        std::max<int64_t>(hlo::ContiguousBytes(*shape, region.box), 1));
    const TileWalk::Copies of_all =
        walk_.CopiesOf(*class_, id, peaks_.vmem_bytes);
    const double copies = of_all.count * Share();
    if (of_all.is_touched_only) {
      bytes *= static_cast<double>(region.touched) / Product(region.box);
      // A row of lanes at a time.
      piece = std::min(
          piece, static_cast<double>(hlo::kLanes *
                                     hlo::ByteWidth(shape->element_type())));
    }
    const double pieces = std::ceil(bytes / std::max(piece, 1.0));
    pieces_ += pieces * Share();
    shortest_piece_ =
        shortest_piece_ == 0 ? piece : std::min(shortest_piece_, piece);
    all_copies_ += copies;
    all_pieces_ += pieces * copies;
    if (is_input) {
      bytes_in_ += bytes * Share();
      all_bytes_in_ += bytes * copies;
    }
    if (is_output) {
      bytes_out_ += bytes * Share();
      all_bytes_out_ += bytes * copies;
    }
    Add(hlo::PackedRegisters(instruction, region), runs, loads_and_stores_);
  }

  void CountWork(InstructionId id, double runs) {
    const Instruction& instruction = computation_[id];
    const Region& region = At(id);
    if (region.touched == 0 || hlo::IsFree(instruction)) return;
    const double registers = hlo::UnpackedRegisters(instruction, region);
    switch (instruction.opcode()) {
      case Opcode::kDot:
        instructions_ += Share();
        if (At(instruction.operand(0)).touched == 0) return;
        CountProduct(
            hlo::MatrixProductOfDot(computation_, instruction, class_->regions),
            runs);
        return;
      case Opcode::kConvolution:
        instructions_ += Share();
        CountConvolution(instruction, region, runs);
        return;
      case Opcode::kReduce:
      case Opcode::kReduceWindow:
        instructions_ += Share();
        CountReduction(instruction, runs);
        return;
      default:
        break;
    }
    instructions_ += Share();
    if (!hlo::IsElementwise(instruction.opcode())) {
      const double stages = hlo::NetworkStages(instruction);
      Add(registers * stages, runs, moves_);
      if (stages > 1) Add(registers * stages, runs, simple_);
    } else if (hlo::IsTranscendental(instruction.opcode())) {
      Add(registers, runs, transcendental_);
    } else {
      Add(registers, runs, simple_);
    }
  }

  void CountReduction(const Instruction& instruction, double runs) {
    const InstructionId operand = instruction.operand(0);
    const double registers =
        hlo::UnpackedRegisters(computation_[operand], At(operand));
    const Shape* const shape = hlo::TiledShape(computation_[operand]);
    if (shape == nullptr) return;
    const int64_t lane = hlo::RegisterDimensionsOf(*shape).lane;
    const hlo::DimensionVector& reduced = instruction.dimensions();
    if (std::find(reduced.begin(), reduced.end(), lane) != reduced.end()) {
      Add(registers, runs, lane_reductions_);
    } else {
      Add(registers, runs, other_reductions_);
    }
    Add(registers, runs, simple_);
  }

  void CountConvolution(const Instruction& convolution, const Region& region,
                        double runs) {
    if (hlo::IsDepthwise(computation_, convolution)) {
      // On the vector unit: a product and a sum for each position.
      Add(2 * hlo::WindowPositions(convolution) *
              hlo::UnpackedRegisters(convolution, region),
          runs, simple_);
      return;
    }
    if (At(convolution.operand(1)).touched == 0) return;
    CountProduct(hlo::MatrixProductOfConvolution(computation_, convolution,
                                                 class_->regions),
                 runs);
  }

  void CountProduct(const hlo::MatrixProduct& product, double runs) {
    constexpr double kArray = 128;
    const double all = product.products * product.terms;
    const double passes =
        all * std::ceil(product.k / kArray) * std::ceil(product.n / kArray);
    const double steps = passes * std::max(product.m, kArray);
    Add(product.passes * passes, runs, passes_);
    Add(product.passes * steps, runs, array_steps_);
    if (!IsMostCommon()) return;
    Set(kRows, LogScale(product.m, kSizeDoublings));
    Set(kContracted, LogScale(product.k, kSizeDoublings));
    Set(kColumns, LogScale(product.n, kSizeDoublings));
    Set(kArrayFill, static_cast<float>(all * product.m * product.k * product.n /
                                       std::max(steps * kArray * kArray, 1.0)));
  }

  const hlo::TiledKernel& kernel_;
  const hlo::Computation& computation_;
  const hlo::KernelConfig& config_;
  const TileWalk& walk_;
  const TpuPeaks& peaks_;
  std::vector<float>& features_;

  // The class of tiles at hand.
  const TileWalk::Class* class_ = nullptr;
  double bytes_in_ = 0, bytes_out_ = 0, pieces_ = 0, shortest_piece_ = 0;
  double all_bytes_in_ = 0, all_bytes_out_ = 0, all_copies_ = 0;
  double all_pieces_ = 0, instructions_ = 0;
  Count simple_, transcendental_, lane_reductions_, other_reductions_;
  Count moves_, loads_and_stores_, passes_, array_steps_;
};

}  // namespace

const std::vector<std::string>& TileFeatureNames() {
  static const auto* const names =
      new std::vector<std::string>(std::begin(kNames), std::end(kNames));
  return *names;
}

std::vector<float> TileFeatures::Of(const hlo::KernelConfig& config) const {
  std::vector<float> features(kFeatureCount, 0);
  const TileWalk walk(kernel_, config);
  Work(kernel_, config, walk, peaks_, features).Describe();
  const TpuTotals totals = analytical_.TotalsOf(config, walk);
  const double ns = std::max(analytical_.PredictNs(totals), 1.0);
  constexpr float kNsDoublings = 44;
  const auto share = [ns](double seconds) {
    const double of = 1e9 * seconds / ns;
    // Windows of 10^18 elements make both infinite.
    return static_cast<float>(std::isnan(of) ? 2.0 : std::min(of, 2.0));
  };
  features[kVectorMemory] = LogScale(totals.vmem_bytes, kTileDoublings);
  features[kAnalyticalTime] = LogScale(ns, kNsDoublings);
  features[kTransferShare] = share(totals.bytes / peaks_.hbm_bytes_per_second);
  features[kMatrixShare] =
      share(totals.matrix_cycles / peaks_.matrix_units / peaks_.clock_hz);
  features[kVectorShare] =
      share(totals.vector_operations / peaks_.vector_slots / peaks_.clock_hz);
  const TpuPeaks v3;
  const auto ratio = [](double peak, double other) {
    return static_cast<float>(std::log2(peak / other));
  };
  features[kClock] = ratio(peaks_.clock_hz, v3.clock_hz);
  features[kMemoryRate] =
      ratio(peaks_.hbm_bytes_per_second, v3.hbm_bytes_per_second);
  features[kMemoryBytes] = ratio(peaks_.vmem_bytes, v3.vmem_bytes);
  features[kMatrixUnits] = ratio(peaks_.matrix_units, v3.matrix_units);
  features[kVectorSlots] = ratio(peaks_.vector_slots, v3.vector_slots);
  return features;
}

}  // namespace hone::costmodels

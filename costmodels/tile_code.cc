#include "costmodels/tile_code.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/tiles/matrix_product.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/register_loops.h"
#include "hlo/tiles/register_moves.h"

namespace hone::costmodels {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Region;
using hlo::RegisterDimensions;
using hlo::RegisterMove;
using hlo::Shape;

// Steps of a path: transcendental functions are pipelines of several
// operations, and what crosses lanes goes through a network.
constexpr double kTranscendentalSteps = 4;
constexpr double kCrossLaneSteps = 12;
constexpr double kLoadSteps = 2;
constexpr double kArray = 128;

size_t Index(int64_t i) { return static_cast<size_t>(i); }

// A loop over registers: its dimensions and sizes, and whether it runs once for
// each tile of a reduction.
using LoopKey = std::pair<bool, std::vector<int64_t>>;

struct Loop {
  double iterations = 0;
  double runs = 0;
  double path = 0;
  // The values in the order of the code.
  std::vector<InstructionId> members;
};

// Adds what the tiles of a class do to `code`.
class Finder {
 public:
  Finder(const hlo::TiledKernel& kernel, const hlo::KernelConfig& config,
         const TileWalk& walk, const TileWalk::Class& tiles, TileCode& code)
      : kernel_(kernel),
        computation_(kernel.computation()),
        walk_(walk),
        class_(tiles),
        tile_(tiles.regions),
        unroll_(std::max(config.unroll, 1)),
        code_(code) {}

  void Find() {
    for (const InstructionId id : kernel_.instructions()) {
      const Instruction& instruction = computation_[id];
      if (tile_.at(id).touched == 0 || hlo::IsFree(instruction)) continue;
      const double runs = walk_.Runs(class_, id);
      moved_ = 0;
      CountMoves(instruction, runs);
      if (hlo::IsInLoop(instruction)) {
        AddToLoop(instruction, kernel_.IsEpilogue(id), runs);
      }
    }
    for (const auto& [key, loop] : loops_) {
      code_.iterations += loop.iterations * loop.runs;
      code_.path_steps += loop.iterations * loop.runs * loop.path;
      const size_t live =
          hlo::MostLiveValues(computation_, loop.members,
                              [this](InstructionId id) { return Source(id); });
      code_.live = std::max(code_.live, static_cast<double>(live) * unroll_);
    }
  }

 private:
  const Shape* ShapeOf(InstructionId id) const {
    return hlo::TiledShape(computation_[id]);
  }
  double Registers(InstructionId id) const {
    return hlo::UnpackedRegisters(computation_[id], tile_.at(id));
  }
  InstructionId Source(InstructionId id) const {
    while (hlo::IsAlias(computation_[id].opcode()) &&
           computation_[id].operand_count() == 1) {
      id = computation_[id].operand(0);
    }
    return id;
  }

  RegisterMove Move(const Instruction& instruction, size_t operand) const {
    return hlo::MoveOf(computation_, instruction, operand);
  }
  void Relayout(double registers, double runs) {
    code_.relayouts += registers * runs;
    moved_ += registers;
  }
  // A move along dimension `d`, by an offset.
  void Shift(const RegisterDimensions& lanes, int64_t d, int64_t offset,
             double registers, double runs) {
    if (hlo::IsAligned(lanes, d, offset)) return;
    code_.misaligned += registers * runs;
    moved_ += registers;
  }

  void CountMoves(const Instruction& instruction, double runs) {
    const InstructionId id = instruction.id();
    const Shape* const shape = ShapeOf(id);
    if (shape == nullptr) return;
    const RegisterDimensions lanes = hlo::RegisterDimensionsOf(*shape);
    const double registers = Registers(id);
    switch (instruction.opcode()) {
      case Opcode::kBroadcast:
        return CountBroadcast(instruction, *shape, lanes, runs);
      case Opcode::kTranspose:
      case Opcode::kReshape:
        if (Move(instruction, 0) == RegisterMove::kChangeLanes) {
          Relayout(2 * registers, runs);
        }
        return;
      case Opcode::kReverse:
        for (const int64_t d : instruction.dimensions()) {
          Shift(lanes, d, 1, registers, runs);
        }
        return;
      case Opcode::kConcatenate: {
        int64_t offset = 0;
        const int64_t d = instruction.dimensions()[0];
        for (const InstructionId operand : instruction.operands()) {
          Shift(lanes, d, offset, std::min(Registers(operand), registers),
                runs);
          if (const Shape* const from = ShapeOf(operand)) {
            offset += from->dimension(d);
          }
        }
        return;
      }
      case Opcode::kSlice: {
        const auto& slice = instruction.attributes().slice;
        for (size_t d = 0; d < slice.size(); ++d) {
          const int64_t offset = slice[d].stride > 1 ? 1 : slice[d].start;
          Shift(lanes, static_cast<int64_t>(d), offset, registers, runs);
        }
        return;
      }
      case Opcode::kPad: {
        const auto& padding = instruction.attributes().padding;
        for (size_t d = 0; d < padding.size(); ++d) {
          const int64_t offset = padding[d].interior > 0 ? 1 : padding[d].low;
          Shift(lanes, static_cast<int64_t>(d), offset, registers, runs);
        }
        return;
      }
      case Opcode::kReduce:
        return CountReduction(instruction, runs);
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice:
        code_.misaligned += registers * runs;
        return;
      case Opcode::kGather:
      case Opcode::kScatter:
        return CountIndexed(instruction, runs);
      case Opcode::kDot:
        return CountDot(instruction, runs);
      case Opcode::kConvolution:
        return CountConvolution(instruction, runs);
      default:
        break;
    }
    if (!hlo::IsElementwise(instruction.opcode())) return;
    for (size_t i = 0; i < instruction.operand_count(); ++i) {
      if (Move(instruction, i) == RegisterMove::kChangeLanes) {
        Relayout(2 * Registers(instruction.operand(i)), runs);
      }
    }
  }

  void CountBroadcast(const Instruction& broadcast, const Shape& shape,
                      const RegisterDimensions& lanes, double runs) {
    const double registers = Registers(broadcast.id());
    const RegisterMove move = Move(broadcast, 0);
    if (move == RegisterMove::kFillLanes) {
      const double beside =
          shape.rank() < 2
              ? 1
              : std::ceil(
                    static_cast<double>(
                        tile_.at(broadcast.id()).box[Index(lanes.lane)].size) /
                    hlo::kLanes);
      const double distinct = registers / std::max(beside, 1.0);
      code_.lane_broadcasts += distinct * runs;
      moved_ += distinct;
    } else if (move == RegisterMove::kChangeLanes) {
      Relayout(registers, runs);
    }
  }

  void CountReduction(const Instruction& reduce, double runs) {
    const InstructionId operand = reduce.operand(0);
    const Shape* const from = ShapeOf(operand);
    if (from == nullptr || from->rank() == 0) return;
    const int64_t lane = hlo::RegisterDimensionsOf(*from).lane;
    if (!absl::c_linear_search(reduce.dimensions(), lane)) return;
    const auto left = static_cast<double>(hlo::CombinedRegisters(
        *from, tile_.at(operand).box, reduce.dimensions()));
    code_.partial_lanes += left * runs;
    // Across the lanes, and from sublanes into lanes of the result.
    moved_ += 2 * left;
  }

  // A row for each slice that an index says.
  void CountIndexed(const Instruction& instruction, double runs) {
    const auto slices = hlo::IndexedSlicesOf(computation_, instruction, tile_);
    if (!slices) return;
    code_.indexed_rows +=
        std::max(slices->count, Registers(slices->array)) * runs;
  }

  void CountDot(const Instruction& dot, double runs) {
    const hlo::DotDimensions& dims = *dot.attributes().dot;
    const hlo::DimensionVector* const contracted[] = {&dims.lhs_contracting,
                                                      &dims.rhs_contracting};
    for (size_t i = 0; i < 2; ++i) {
      const InstructionId operand = dot.operand(i);
      const int64_t lane = hlo::RegisterDimensionsOf(*ShapeOf(operand)).lane;
      if (!absl::c_linear_search(*contracted[i], lane)) {
        code_.transposed[i] += Registers(operand) * runs;
      }
    }
    CountProduct(hlo::MatrixProductOfDot(computation_, dot, tile_), runs);
  }

  void CountConvolution(const Instruction& convolution, double runs) {
    const hlo::ConvolutionDimensions& c = *convolution.attributes().convolution;
    const InstructionId input = convolution.operand(0);
    const RegisterDimensions lanes = hlo::RegisterDimensionsOf(*ShapeOf(input));
    const hlo::Window& window = *convolution.attributes().window;
    for (size_t i = 0; i < window.size(); ++i) {
      if (window[i].size == 1 && window[i].stride == 1) continue;
      Shift(lanes, c.input_spatial[i], 1, Registers(input), runs);
    }
    if (hlo::IsDepthwise(computation_, convolution)) return;
    if (lanes.lane != c.input_feature) {
      code_.transposed[0] += Registers(input) * runs;
    }
    CountProduct(
        hlo::MatrixProductOfConvolution(computation_, convolution, tile_),
        runs);
  }

  void CountProduct(const hlo::MatrixProduct& product, double runs) {
    const double all =
        product.products * product.terms * std::ceil(product.k / kArray);
    const double rows = std::ceil(product.m / hlo::kSublanes);
    const double columns = std::ceil(product.n / kArray);
    code_.streamed_rows += all * rows * columns * runs;
    code_.partial_results +=
        std::max(all - product.products, 0.0) * rows * columns * runs;
  }

  void AddToLoop(const Instruction& instruction, bool is_epilogue,
                 double runs) {
    const Instruction& over = computation_[hlo::LoopDomain(instruction)];
    const Region& region = tile_.at(over.id());
    const auto it =
        loops_.try_emplace({is_epilogue, hlo::LoopSizes(over, region)}).first;
    Loop& loop = it->second;
    const double registers = Registers(over.id());
    if (registers == 0) return;
    loop.iterations =
        std::max(loop.iterations, hlo::LoopIterations(over, region, unroll_));
    loop.runs = runs;
    double steps = 1;
    if (hlo::IsTranscendental(instruction.opcode())) {
      steps = kTranscendentalSteps;
    } else if (moved_ >= registers) {
      steps = kCrossLaneSteps;
    } else if (instruction.opcode() != Opcode::kReduce &&
               !hlo::IsElementwise(instruction.opcode())) {
      steps = 0;
    }
    double before = 0;
    for (const InstructionId operand : instruction.operands()) {
      const InstructionId source = Source(operand);
      if (loop_of_.at(source) == &loop) {
        before = std::max(before, path_.at(source));
        continue;
      }
      before = std::max(before, kLoadSteps);
      CountUnpacked(source, runs);
    }
    loop_of_[instruction.id()] = &loop;
    path_[instruction.id()] = before + steps;
    loop.path = std::max(loop.path, before + steps);
    loop.members.push_back(instruction.id());
    if (absl::c_linear_search(kernel_.results(), instruction.id())) {
      CountUnpacked(instruction.id(), runs);
    }
  }

  void CountUnpacked(InstructionId id, double runs) {
    const Shape* const shape = ShapeOf(id);
    if (shape == nullptr || hlo::PackingOf(shape->element_type()) == 1) return;
    code_.unpacked += Registers(id) * runs;
  }

  const hlo::TiledKernel& kernel_;
  const hlo::Computation& computation_;
  const TileWalk& walk_;
  const TileWalk::Class& class_;
  const hlo::IdMap<Region>& tile_;
  const double unroll_;
  std::map<LoopKey, Loop> loops_;
  hlo::IdMap<const Loop*> loop_of_;
  hlo::IdMap<double> path_;
  // Registers that the instruction at hand moves across lanes.
  double moved_ = 0;
  TileCode& code_;
};

}  // namespace

TileCode TileCodeOf(const hlo::TiledKernel& kernel,
                    const hlo::KernelConfig& config, const TileWalk& walk) {
  TileCode code;
  for (const TileWalk::Class& tiles : walk.classes()) {
    Finder(kernel, config, walk, tiles, code).Find();
  }
  return code;
}

}  // namespace hone::costmodels

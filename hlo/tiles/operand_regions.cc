#include "hlo/tiles/operand_regions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "absl/algorithm/container.h"

#include "base/division.h"
#include "base/saturating.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/reshaped_box.h"
#include "hlo/tiles/tiled_kernel.h"
#include "hlo/tiles/window_interval.h"

namespace hone::hlo {
namespace {

size_t Index(int64_t i) { return static_cast<size_t>(i); }

bool IsIn(const DimensionVector& dimensions, int64_t d) {
  return absl::c_linear_search(dimensions, d);
}

// Finds the boxes of the operands of one instruction. A case returns without
// doing anything where shapes are not those of arrays that it knows: operands
// then stay whole.
class Finder {
 public:
  Finder(const Computation& computation, const Instruction& instruction,
         const Region& result, const Box* reduced)
      : computation_(computation),
        instruction_(instruction),
        box_(result.box),
        touched_(result.touched),
        reduced_(reduced) {
    for (const InstructionId operand : instruction.operands()) {
      regions_.push_back(WholeRegion(computation[operand]));
    }
  }

  std::vector<Region> Find() {
    if (Volume(box_) == 0) {
      for (size_t i = 0; i < regions_.size(); ++i) SetEmpty(i);
      return std::move(regions_);
    }
    if (TiledShape(instruction_) == nullptr) return std::move(regions_);
    FindByOpcode();
    return std::move(regions_);
  }

 private:
  const Shape* OperandShape(size_t i) const {
    return i < regions_.size()
               ? TiledShape(computation_[instruction_.operand(i)])
               : nullptr;
  }
  int64_t OperandRank(size_t i) const {
    const Shape* const shape = OperandShape(i);
    return shape == nullptr ? -1 : shape->rank();
  }
  int64_t rank() const { return static_cast<int64_t>(box_.size()); }
  bool IsDimension(int64_t d) const { return d >= 0 && d < rank(); }
  // Returns true if an operand is an array of this rank.
  bool HasRank(size_t i, int64_t operand_rank) const {
    return operand_rank >= 0 && OperandRank(i) == operand_rank;
  }

  // Elements read at unknown places stay so few through what moves or computes
  // them one by one.
  void Set(size_t i, Box box) {
    const int64_t volume = Volume(box);
    regions_[i] = {std::move(box), std::min(volume, touched_)};
  }
  void SetAll(size_t i, Box box) {
    const int64_t volume = Volume(box);
    regions_[i] = {std::move(box), volume};
  }
  void SetEmpty(size_t i) {
    for (Interval& interval : regions_[i].box) interval = {0, 0};
    regions_[i].touched = regions_[i].box.empty() ? 1 : 0;
  }

  void FindByOpcode() {
    switch (instruction_.opcode()) {
      case Opcode::kBroadcast:
        return OfBroadcast();
      case Opcode::kTranspose:
        return OfTranspose();
      case Opcode::kReverse:
        return OfReverse();
      case Opcode::kReduce:
        return OfReduce();
      case Opcode::kReduceWindow:
        return OfReduceWindow();
      case Opcode::kSelectAndScatter:
        return OfSelectAndScatter();
      case Opcode::kDot:
        return OfDot();
      case Opcode::kConvolution:
        return OfConvolution();
      case Opcode::kSlice:
        return OfSlice();
      case Opcode::kPad:
        return OfPad();
      case Opcode::kConcatenate:
        return OfConcatenate();
      case Opcode::kReshape:
      case Opcode::kBitcast:
        return OfReshape();
      case Opcode::kDynamicSlice:
        return OfDynamicSlice();
      case Opcode::kDynamicUpdateSlice:
        return OfDynamicUpdateSlice();
      case Opcode::kGather:
        return OfGather();
      case Opcode::kScatter:
        return OfScatter();
      case Opcode::kSort:
        return WholeAlong(instruction_.dimensions());
      case Opcode::kFft: {
        DimensionVector last;
        const size_t count = instruction_.dimensions().size();
        while (last.size() < count) {
          last.push_back(rank() - 1 - static_cast<int64_t>(last.size()));
        }
        return WholeAlong(last);
      }
      case Opcode::kCholesky:
      case Opcode::kTriangularSolve:
        return WholeAlong({rank() - 1, rank() - 2});
      case Opcode::kBatchNormInference:
        return OfBatchNormInference();
      case Opcode::kGetTupleElement:
      case Opcode::kMap:
      case Opcode::kSetDimensionSize:
      case Opcode::kStochasticConvert:
      case Opcode::kOptBarrier:
      case Opcode::kAddDependency:
        return OfElementwise();
      default:
        if (IsElementwise(instruction_.opcode())) OfElementwise();
    }
  }

  // Operands of the result's dimensions: the same box.
  void OfElementwise() {
    for (size_t i = 0; i < regions_.size(); ++i) {
      const Shape* const shape = OperandShape(i);
      if (shape != nullptr &&
          shape->dimensions() == TiledShape(instruction_)->dimensions()) {
        Set(i, box_);
      }
    }
  }

  // Operands of the result's rank: its box, but whole in some dimensions.
  void WholeAlong(const DimensionVector& whole) {
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (!HasRank(i, rank())) continue;
      Box box = regions_[i].box;
      for (int64_t d = 0; d < rank(); ++d) {
        if (!IsIn(whole, d)) box[Index(d)] = box_[Index(d)];
      }
      SetAll(i, std::move(box));
    }
  }

  void OfBroadcast() {
    const DimensionVector& to = instruction_.dimensions();
    if (!HasRank(0, static_cast<int64_t>(to.size()))) return;
    Box box;
    for (const int64_t d : to) {
      if (!IsDimension(d)) return;
      box.push_back(box_[Index(d)]);
    }
    Set(0, std::move(box));
  }

  void OfTranspose() {
    const DimensionVector& from = instruction_.dimensions();
    if (!HasRank(0, rank()) || static_cast<int64_t>(from.size()) != rank()) {
      return;
    }
    Box box = regions_[0].box;
    for (int64_t d = 0; d < rank(); ++d) {
      if (!IsDimension(from[Index(d)])) return;
      box[Index(from[Index(d)])] = box_[Index(d)];
    }
    Set(0, std::move(box));
  }

  void OfReverse() {
    if (!HasRank(0, rank())) return;
    Box box = box_;
    for (const int64_t d : instruction_.dimensions()) {
      if (!IsDimension(d)) return;
      box[Index(d)].start =
          OperandShape(0)->dimension(d) - box_[Index(d)].end();
    }
    Set(0, std::move(box));
  }

  void OfReduce() {
    const DimensionVector& dimensions = instruction_.dimensions();
    const int64_t operand_rank =
        rank() + static_cast<int64_t>(dimensions.size());
    // The operands; behind them as many initial values.
    for (size_t i = 0; i < regions_.size() / 2; ++i) {
      if (!HasRank(i, operand_rank)) continue;
      Box box = regions_[i].box;
      int64_t kept = 0;
      for (int64_t d = 0; d < operand_rank; ++d) {
        const auto reduced = absl::c_find(dimensions, d);
        if (reduced == dimensions.end()) {
          if (kept == rank()) return;
          box[Index(d)] = box_[Index(kept++)];
        } else if (reduced_ != nullptr) {
          box[Index(d)] =
              (*reduced_)[static_cast<size_t>(reduced - dimensions.begin())];
        }
      }
      SetAll(i, std::move(box));
    }
  }

  void OfReduceWindow() {
    const Window* const window = instruction_.attributes().window.get();
    if (window == nullptr || static_cast<int64_t>(window->size()) != rank()) {
      return;
    }
    for (size_t i = 0; i < regions_.size() / 2; ++i) {
      if (!HasRank(i, rank())) continue;
      Box box;
      for (int64_t d = 0; d < rank(); ++d) {
        box.push_back(WindowInterval(box_[Index(d)], (*window)[Index(d)],
                                     OperandShape(i)->dimension(d)));
      }
      SetAll(i, std::move(box));
    }
  }

  void OfSelectAndScatter() {
    const Window* const window = instruction_.attributes().window.get();
    if (window == nullptr || static_cast<int64_t>(window->size()) != rank() ||
        !HasRank(0, rank()) || !HasRank(1, rank())) {
      return;
    }
    Box source;
    Box operand;
    for (int64_t d = 0; d < rank(); ++d) {
      // The windows that an element lies in, and all that they see.
      const WindowDimension& w = (*window)[Index(d)];
      source.push_back(
          WindowsOver(box_[Index(d)], w, OperandShape(1)->dimension(d)));
      operand.push_back(
          WindowInterval(source.back(), w, OperandShape(0)->dimension(d)));
    }
    SetAll(0, std::move(operand));
    SetAll(1, std::move(source));
  }

  void OfDot() {
    const DotDimensions* const dot = instruction_.attributes().dot.get();
    if (dot == nullptr || OperandRank(0) < 0 || OperandRank(1) < 0) return;
    int64_t next = static_cast<int64_t>(dot->lhs_batch.size());
    const std::optional<Box> lhs =
        DotOperandBox(0, dot->lhs_batch, dot->lhs_contracting, next);
    const std::optional<Box> rhs =
        DotOperandBox(1, dot->rhs_batch, dot->rhs_contracting, next);
    if (!lhs.has_value() || !rhs.has_value() || next != rank()) return;
    SetAll(0, *lhs);
    SetAll(1, *rhs);
  }

  // The result has the batch dimensions, then the others of each operand;
  // `next` is the first of this operand, and that of the next one afterwards.
  std::optional<Box> DotOperandBox(size_t i, const DimensionVector& batch,
                                   const DimensionVector& contracting,
                                   int64_t& next) const {
    Box box = regions_[i].box;
    for (int64_t d = 0; d < OperandRank(i); ++d) {
      const auto b = absl::c_find(batch, d);
      const auto c = absl::c_find(contracting, d);
      if (c != contracting.end()) {
        if (reduced_ != nullptr) {
          box[Index(d)] =
              (*reduced_)[static_cast<size_t>(c - contracting.begin())];
        }
        continue;
      }
      const int64_t from = b != batch.end() ? b - batch.begin() : next++;
      if (!IsDimension(from)) return std::nullopt;
      box[Index(d)] = box_[Index(from)];
    }
    return box;
  }

  void OfConvolution() {
    const ConvolutionDimensions* const c =
        instruction_.attributes().convolution.get();
    const Window* const window = instruction_.attributes().window.get();
    const size_t spatial = c == nullptr ? 0 : c->output_spatial.size();
    if (c == nullptr || window == nullptr || !HasRank(0, rank()) ||
        !HasRank(1, rank()) || static_cast<int64_t>(spatial) + 2 != rank() ||
        c->input_spatial.size() != spatial || window->size() != spatial) {
      return;
    }
    Box input = regions_[0].box;
    Box kernel = regions_[1].box;
    const Interval features = box_[Index(c->output_feature)];
    kernel[Index(c->kernel_output_feature)] = features;
    const Interval terms = reduced_ != nullptr
                               ? (*reduced_)[0]
                               : kernel[Index(c->kernel_input_feature)];
    kernel[Index(c->kernel_input_feature)] = terms;
    // What the groups of these output features depend on: parts of the input
    // features, or parts of the batch, one behind the other.
    const Interval groups = GroupsOf(instruction_, features);
    const bool has_batch_groups = c->batch_group_count > 1;
    const int64_t inputs = OperandShape(1)->dimension(c->kernel_input_feature);
    const Interval of_features = has_batch_groups ? Interval{0, 1} : groups;
    input[Index(c->input_feature)] = ClippedInterval(
        __int128{of_features.start} * inputs + terms.start,
        __int128{of_features.end() - 1} * inputs + terms.end() - 1,
        OperandShape(0)->dimension(c->input_feature));
    const int64_t batch = TiledShape(instruction_)->dimension(c->output_batch);
    const Interval of_batch = has_batch_groups ? groups : Interval{0, 1};
    const Interval own = box_[Index(c->output_batch)];
    input[Index(c->input_batch)] =
        ClippedInterval(__int128{of_batch.start} * batch + own.start,
                        __int128{of_batch.end() - 1} * batch + own.end() - 1,
                        OperandShape(0)->dimension(c->input_batch));
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t from = c->input_spatial[i];
      input[Index(from)] =
          WindowInterval(box_[Index(c->output_spatial[i])], (*window)[i],
                         OperandShape(0)->dimension(from));
    }
    SetAll(0, std::move(input));
    SetAll(1, std::move(kernel));
  }

  void OfSlice() {
    const std::vector<SliceDimension>& slice = instruction_.attributes().slice;
    if (!HasRank(0, rank()) || static_cast<int64_t>(slice.size()) != rank()) {
      return;
    }
    Box box;
    for (int64_t d = 0; d < rank(); ++d) {
      const SliceDimension& s = slice[Index(d)];
      const Interval& part = box_[Index(d)];
      box.push_back(
          ClippedInterval(s.start + __int128{part.start} * s.stride,
                          s.start + __int128{part.end() - 1} * s.stride,
                          OperandShape(0)->dimension(d)));
    }
    Set(0, std::move(box));
  }

  void OfPad() {
    const std::vector<PaddingDimension>& padding =
        instruction_.attributes().padding;
    if (!HasRank(0, rank()) || static_cast<int64_t>(padding.size()) != rank()) {
      return;
    }
    Box box;
    for (int64_t d = 0; d < rank(); ++d) {
      const PaddingDimension& p = padding[Index(d)];
      box.push_back(
          PaddedInterval(box_[Index(d)], p, OperandShape(0)->dimension(d)));
    }
    Set(0, std::move(box));
  }

  void OfConcatenate() {
    if (instruction_.dimensions().size() != 1) return;
    const int64_t along = instruction_.dimensions()[0];
    if (!IsDimension(along)) return;
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (!HasRank(i, rank())) return;
    }
    __int128 before = 0;
    for (size_t i = 0; i < regions_.size(); ++i) {
      const int64_t size = OperandShape(i)->dimension(along);
      Box box = box_;
      const Interval part = box_[Index(along)];
      box[Index(along)] =
          ClippedInterval(part.start - before, part.end() - 1 - before, size);
      Set(i, std::move(box));
      before += size;
    }
  }

  void OfReshape() {
    const Shape* const from = OperandShape(0);
    if (from == nullptr) return;
    const std::optional<Box> box =
        ReshapedBox(*TiledShape(instruction_), box_, *from);
    if (box.has_value()) Set(0, *box);
  }

  void OfDynamicSlice() {
    const Shape* const from = OperandShape(0);
    if (!HasRank(0, rank())) return;
    Box box = regions_[0].box;
    for (int64_t d = 0; d < rank(); ++d) {
      // No choice of where a slice of all begins.
      if (TiledShape(instruction_)->dimension(d) == from->dimension(d)) {
        box[Index(d)] = box_[Index(d)];
      }
    }
    SetDynamic(0, std::move(box), Volume(box_));
  }

  void OfDynamicUpdateSlice() {
    if (!HasRank(0, rank()) || !HasRank(1, rank())) return;
    Box update = regions_[1].box;
    for (int64_t d = 0; d < rank(); ++d) {
      if (OperandShape(1)->dimension(d) == OperandShape(0)->dimension(d)) {
        update[Index(d)] = box_[Index(d)];
      }
    }
    Set(0, box_);
    SetDynamic(1, std::move(update), Volume(box_));
  }

  void SetDynamic(size_t i, Box box, int64_t touched) {
    SetAll(i, std::move(box));
    regions_[i].touched = std::min(regions_[i].touched, touched);
  }

  void OfGather() {
    const GatherDimensions* const g = instruction_.attributes().gather.get();
    const int64_t operand_rank = OperandRank(0);
    if (g == nullptr || operand_rank < 0 || OperandRank(1) < 0 ||
        static_cast<int64_t>(g->slice_sizes.size()) != operand_rank) {
      return;
    }
    Box operand = regions_[0].box;
    size_t offset = 0;
    for (int64_t d = 0; d < operand_rank; ++d) {
      if (IsIn(g->collapsed_slice_dims, d) ||
          IsIn(g->operand_batching_dims, d)) {
        continue;
      }
      if (offset == g->offset_dims.size()) return;
      const int64_t to = g->offset_dims[offset++];
      if (!IsDimension(to)) return;
      if (g->slice_sizes[Index(d)] == OperandShape(0)->dimension(d)) {
        operand[Index(d)] = box_[Index(to)];
      }
    }
    Box indices = regions_[1].box;
    int64_t next = 0;
    for (int64_t d = 0; d < OperandRank(1); ++d) {
      if (d == g->index_vector_dim) continue;
      while (IsIn(g->offset_dims, next)) ++next;
      if (!IsDimension(next)) return;
      indices[Index(d)] = box_[Index(next++)];
    }
    SetDynamic(0, std::move(operand), Volume(box_));
    SetAll(1, std::move(indices));
  }

  // Updates may go anywhere.
  void OfScatter() {
    if (regions_.size() == 3 && HasRank(0, rank())) Set(0, box_);
  }

  void OfBatchNormInference() {
    const int64_t feature = instruction_.attributes().feature_index;
    if (!HasRank(0, rank()) || !IsDimension(feature)) return;
    Set(0, box_);
    for (size_t i = 1; i < regions_.size(); ++i) {
      if (HasRank(i, 1)) SetAll(i, {box_[Index(feature)]});
    }
  }

  const Computation& computation_;
  const Instruction& instruction_;
  const Box& box_;
  const int64_t touched_;
  const Box* const reduced_;
  std::vector<Region> regions_;
};

}  // namespace

Region WholeRegion(const Instruction& instruction) {
  const Shape* const shape = TiledShape(instruction);
  if (shape == nullptr) return {{}, 1};
  Region region;
  region.box = WholeBox(shape->dimensions());
  region.touched = Volume(region.box);
  return region;
}

Interval GroupsOf(const Instruction& convolution, const Interval& features) {
  const ConvolutionDimensions& c = *convolution.attributes().convolution;
  const int64_t count =
      std::max({c.feature_group_count, c.batch_group_count, int64_t{1}});
  const int64_t each = std::max<int64_t>(
      1, TiledShape(convolution)->dimension(c.output_feature) / count);
  if (features.size == 0) return {0, 1};
  const int64_t first = features.start / each;
  return {first, (features.end() - 1) / each - first + 1};
}

namespace {

double RegistersOf(const Instruction& instruction, const Region& region,
                   bool packed) {
  const Shape* const shape = TiledShape(instruction);
  if (shape == nullptr || region.touched == 0) return 0;
  const auto all =
      static_cast<double>(RegisterCount(*shape, region.box, packed));
  const int64_t volume = Volume(region.box);
  if (region.touched >= volume) return all;
  return std::ceil(all * static_cast<double>(region.touched) /
                   static_cast<double>(volume));
}

}  // namespace

double UnpackedRegisters(const Instruction& instruction, const Region& region) {
  return RegistersOf(instruction, region, /*packed=*/false);
}

double PackedRegisters(const Instruction& instruction, const Region& region) {
  return RegistersOf(instruction, region, /*packed=*/true);
}

std::vector<Region> OperandRegions(const Computation& computation,
                                   const Instruction& instruction,
                                   const Region& result, const Box* reduced) {
  return Finder(computation, instruction, result, reduced).Find();
}

}  // namespace hone::hlo

#include "loops/lowering/kernel/interleaved_phases.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "base/status_macros.h"
#include "loops/ir/code_limits.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// The arrays of a block: half of a second cache of 1 MiB. Lowering does not
// know the machine.
constexpr int64_t kBlockBytes = 512 << 10;
// Rows of zeros are written with all others if they are more than this part.
constexpr double kMostlyZero = 0.75;
// Features of one position are adjacent in these arrays if they fill the
// longest vector of floats, and the positions of a row do not fill two.
constexpr int64_t kLeastFeatures = 16;
constexpr int64_t kLongRow = 32;

size_t At(int64_t dimension) { return static_cast<size_t>(dimension); }

// Returns the spatial dimension along which the result is contiguous.
std::optional<size_t> ContiguousDimension(const ValueGraph& graph,
                                          const Convolution& c) {
  const auto last = static_cast<int64_t>(graph.dimensions(c.value).size()) - 1;
  for (size_t d = 0; d < c.dims->output_spatial.size(); ++d) {
    if (c.dims->output_spatial[d] == last) return d;
  }
  return std::nullopt;
}

class InterleavedPhases {
 public:
  InterleavedPhases(KernelWriter& writer, Nest& nest, const Convolution& c)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        c_(c),
        sizes_(graph_.dimensions(c.value)),
        along_(*ContiguousDimension(graph_, c)),
        width_(sizes_.back()),
        interleaved_(PhasesOf((*c.window)[along_], width_)),
        features_(sizes_[At(c.dims->output_feature)]),
        type_(graph_.type(c.value)) {
    for (const WindowPhase& phase : interleaved_) {
      least_count_ = std::min(least_count_, phase.output_count);
    }
  }

  absl::Status Run() {
    hlo::DimensionVector sizes;
    for (int64_t d : c_.dims->output_spatial) sizes.push_back(sizes_[At(d)]);
    // One choice stands for all that differ in the interleaved phase.
    std::vector<std::vector<WindowPhase>> choices =
        PhaseChoices(*c_.window, sizes);
    std::erase_if(choices, [&](const std::vector<WindowPhase>& phases) {
      return phases[along_].output_start != 0;
    });
    // A few rows are written twice rather than all others by many nests.
    const auto zeros = absl::c_count_if(
        choices, [&](const auto& phases) { return IsZero(phases); });
    const bool is_mostly_zero =
        static_cast<double>(zeros) >
        kMostlyZero * static_cast<double>(choices.size());
    if (is_mostly_zero) WriteZeros(writer_, nest_, c_.value);
    for (const std::vector<WindowPhase>& phases : choices) {
      phases_ = phases;
      if (!IsZero(phases)) {
        HONE_RETURN_IF_ERROR(WriteChoice());
      } else if (!is_mostly_zero) {
        WriteZeroRows();
      }
    }
    return absl::OkStatus();
  }

 private:
  // The outputs of one choice of phases along the other dimensions.
  absl::Status WriteChoice() {
    OpenBlocks();
    sums_.clear();
    for (size_t i = 0; i < interleaved_.size(); ++i) {
      sums_.push_back(std::nullopt);
      if (interleaved_[i].tap_count > 0) {
        HONE_RETURN_IF_ERROR(WriteSums(interleaved_[i]));
      }
      // Before the next sums: beside the others, it would be fused with them,
      // and they would not be transposed by blocks.
      if (interleaved_[i].output_count > least_count_) {
        Interleave(1, least_count_, i, i + 1);
      }
    }
    Interleave(least_count_, 0, 0, interleaved_.size());
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  // Returns true if all outputs of one choice of phases along the other
  // dimensions are zero.
  bool IsZero(std::vector<WindowPhase> phases) const {
    phases.erase(phases.begin() + static_cast<std::ptrdiff_t>(along_));
    return ReadsHoles(phases) ||
           absl::c_all_of(interleaved_, [](const WindowPhase& phase) {
             return phase.tap_count == 0;
           });
  }

  void WriteZeroRows() {
    Indices at(sizes_.size());
    at[At(c_.dims->output_batch)] =
        nest_.AddLoop(sizes_[At(c_.dims->output_batch)]);
    at[At(c_.dims->output_feature)] = nest_.AddLoop(features_);
    for (size_t d = 0; d < phases_.size(); ++d) {
      if (d == along_) continue;
      at[At(c_.dims->output_spatial[d])] =
          nest_.AddLoop(phases_[d].output_count) * phases_[d].output_step +
          phases_[d].output_start;
    }
    at.back() = nest_.AddLoop(width_);
    nest_.Store(writer_.Target(nest_, c_.value, at),
                IdentityOf(Opcode::kAdd, type_));
    nest_.CloseTo(0);
  }

  // Opens the loops around a block, as many as it takes for caches to hold it:
  // over the batch, then over spatial dimensions.
  void OpenBlocks() {
    position_.assign(phases_.size(), 0);
    inner_.clear();
    int64_t bytes = hlo::ByteWidth(SumTypeOf(type_)) * features_ * width_ *
                    sizes_[At(c_.dims->output_batch)];
    for (size_t d = 0; d < phases_.size(); ++d) {
      if (d != along_) bytes *= phases_[d].output_count;
    }
    const int64_t batch = sizes_[At(c_.dims->output_batch)];
    has_whole_batch_ = bytes <= kBlockBytes;
    if (!has_whole_batch_) {
      n_ = nest_.AddLoop(batch);
      bytes /= batch;
    }
    for (size_t d = 0; d < phases_.size(); ++d) {
      if (d == along_) continue;
      if (bytes <= kBlockBytes) {
        inner_.push_back(d);
        continue;
      }
      position_[d] = nest_.AddLoop(phases_[d].output_count);
      bytes /= phases_[d].output_count;
    }
    depth_ = nest_.depth();
  }

  bool FeaturesAreAdjacent() const {
    return features_ >= kLeastFeatures && least_count_ < kLongRow;
  }

  // Returns the indices of a sum of the current block, or the sizes of all.
  template <typename List, typename Value>
  List InOrder(Value batch, const std::vector<Value>& inner, Value position,
               Value feature) const {
    List list;
    if (!FeaturesAreAdjacent()) list.push_back(feature);
    if (has_whole_batch_) list.push_back(batch);
    for (const Value& value : inner) list.push_back(value);
    list.push_back(position);
    if (FeaturesAreAdjacent()) list.push_back(feature);
    return list;
  }

  Access SumAt(BufferId buffer, const Affine& feature) const {
    std::vector<Index> inner;
    for (size_t d : inner_) inner.push_back(position_[d]);
    return {buffer,
            InOrder<Indices, Index>(n_, inner, position_[along_], feature)};
  }

  void OpenInnerBatch() {
    if (has_whole_batch_) n_ = nest_.AddLoop(sizes_[At(c_.dims->output_batch)]);
  }

  void OpenInner() {
    for (size_t d : inner_) {
      position_[d] = nest_.AddLoop(phases_[d].output_count);
    }
  }

  absl::Status WriteSums(const WindowPhase& phase) {
    phases_[along_] = phase;
    const ElementType type = SumTypeOf(type_);
    std::vector<int64_t> inner;
    for (size_t d : inner_) inner.push_back(phases_[d].output_count);
    const BufferId buffer =
        nest_.Temporary("phase", type,
                        InOrder<hlo::DimensionVector, int64_t>(
                            sizes_[At(c_.dims->output_batch)], inner,
                            phase.output_count, features_));
    sums_.back() = buffer;
    OpenInnerBatch();
    OpenInner();
    position_[along_] = nest_.AddLoop(phase.output_count);
    Subscripts at(c_, graph_, nest_);
    at.SetBatch(n_);
    at.AddOutputFeatures();
    HONE_RETURN_IF_ERROR(WriteSum(writer_, nest_, c_, phases_, position_, type,
                                  SumAt(buffer, at.feature()), at));
    nest_.CloseTo(depth_);
    return absl::OkStatus();
  }

  // Stores `count` elements from element `first` on of some phases.
  void Interleave(int64_t count, int64_t first, size_t begin, size_t end) {
    OpenInnerBatch();
    const Affine feature = nest_.AddLoop(features_);
    OpenInner();
    position_[along_] = nest_.AddLoop(count) + first;
    Indices at(sizes_.size());
    at[At(c_.dims->output_batch)] = n_;
    at[At(c_.dims->output_feature)] = feature;
    for (size_t d = 0; d < phases_.size(); ++d) {
      at[At(c_.dims->output_spatial[d])] =
          position_[d] * phases_[d].output_step + phases_[d].output_start;
    }
    for (size_t i = begin; i < end; ++i) {
      const WindowPhase& phase = interleaved_[i];
      at.back() = position_[along_] * phase.output_step + phase.output_start;
      ExpressionPtr value =
          sums_[i].has_value()
              ? Converted(type_, writer_.Load(SumAt(*sums_[i], feature)))
              : IdentityOf(Opcode::kAdd, type_);
      nest_.Store(writer_.Target(nest_, c_.value, at), std::move(value));
    }
    nest_.CloseTo(depth_);
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const Convolution& c_;
  const hlo::DimensionVector& sizes_;
  const size_t along_;  // the spatial dimension of the interleaved phases
  const int64_t width_;
  const std::vector<WindowPhase> interleaved_;
  const int64_t features_;
  const ElementType type_;
  int64_t least_count_ = std::numeric_limits<int64_t>::max();
  // The current phase of each dimension.
  std::vector<WindowPhase> phases_;
  // The index of the batch, and the number of the output of its phase in each
  // dimension.
  Affine n_;
  std::vector<Affine> position_;
  // Spatial dimensions inside of blocks, besides that along which phases are
  // interleaved; true if the batch is.
  std::vector<size_t> inner_;
  bool has_whole_batch_ = false;
  size_t depth_ = 0;  // of the loops around blocks
  // The sums of each interleaved phase; nullopt if all are zero.
  std::vector<std::optional<BufferId>> sums_;
};

}  // namespace

bool ShouldInterleavePhases(const ValueGraph& graph, const Convolution& c) {
  const std::optional<size_t> along = ContiguousDimension(graph, c);
  if (!along.has_value()) return false;
  const int64_t size = graph.dimensions(c.value).back();
  const std::vector<WindowPhase> phases = PhasesOf((*c.window)[*along], size);
  return phases.size() > 1 && phases.size() <= kMostInterleavedStores &&
         phases[0].output_step == static_cast<int64_t>(phases.size());
}

absl::Status WriteInterleavedPhases(KernelWriter& writer, Nest& nest,
                                    const Convolution& c) {
  return InterleavedPhases(writer, nest, c).Run();
}

}  // namespace hone::loops

#include "loops/lowering/kernel/scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"

#include "base/status_macros.h"
#include "hlo/rewrite/regions/reductions.h"
#include "loops/ir/code_limits.h"
#include "loops/ir/operation_types.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Opcode;

// Lines side by side if the region is an instruction of a few cycles; more of
// them would compete for the ways of a cache set.
constexpr int64_t kLinesAtOnce = 4;
// The same for regions that are worth a vector lane per line, and for short
// contiguous lines, blocks of which are transposed.
constexpr int64_t kLinesOfVectors = 16;
// Lines side by side that are contiguous, and the fewest that are worth it.
constexpr int64_t kColumns = 256;
constexpr int64_t kMinColumns = 8;
// A single line of this size is divided into parts.
constexpr int64_t kMinDivided = 4096;
constexpr int64_t kParts = 64;

bool IsTrivial(const hlo::WindowDimension& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 &&
         w.padding_high == 0 && w.base_dilation == 1;
}

bool IsSlow(const hlo::Computation& region) {
  return absl::c_any_of(region.instructions(), [](const auto& instruction) {
    return IsSlowOperation(instruction.opcode(),
                           instruction.shape().element_type());
  });
}

// Values of all operands, one expression for each.
using Values = std::vector<ExpressionPtr>;

class ScanWriter {
 public:
  ScanWriter(KernelWriter& writer, Nest& nest, hlo::InstructionId id,
             const Scan& scan)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        scan_(scan),
        results_(graph_.leaves(id)),
        operands_(graph_.operands(id)),
        sizes_(graph_.dimensions(operands_[0])),
        size_(sizes_[scan.dimension]),
        region_(graph_.computation()[id].called()[0]) {
    const hlo::Computation& region = graph_.module().computation(region_);
    if (results_.size() == 1) opcode_ = hlo::ReductionOpcode(region);
    lines_at_once_ = IsSlow(region) ? kLinesOfVectors : kLinesAtOnce;
    for (ValueId result : results_) {
      types_.push_back(graph_.type(result));
    }
  }

  absl::Status Run() {
    int64_t lines = 1;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (d != scan_.dimension) lines *= sizes_[d];
    }
    if (lines < kLinesAtOnce && size_ >= kMinDivided) return DivideLines();
    if (size_ <= kMostInterleavedStores && IsInnermost())
      return WriteUnrolled();
    ChooseTile();
    const int64_t count =
        tile_dimension_ < sizes_.size() ? sizes_[tile_dimension_] : 1;
    const int64_t rest = count % tile_;
    HONE_RETURN_IF_ERROR(WriteLines(0, count / tile_, tile_));
    return rest == 0 ? absl::OkStatus() : WriteLines(count - rest, 1, rest);
  }

 private:
  using ValuesFn = absl::FunctionRef<absl::StatusOr<Values>(const Affine& run)>;
  using StepFn = absl::FunctionRef<absl::StatusOr<Values>(const Affine& run,
                                                          const Affine& step)>;
  using StoreFn =
      absl::FunctionRef<void(const Affine& run, const Affine& step, Values)>;

  // Returns true if the elements of a line are contiguous.
  bool IsInnermost() const {
    return absl::c_all_of(
        absl::MakeConstSpan(sizes_).subspan(scan_.dimension + 1),
        [](int64_t size) { return size == 1; });
  }

  // Scans one line after the other by a statement for each element: vectors of
  // lines are stored interleaved.
  absl::Status WriteUnrolled() {
    tile_dimension_ = sizes_.size();
    const Indices line = OpenOuter();
    HONE_ASSIGN_OR_RETURN(Values sums, Inits());
    std::vector<Values> prefixes;
    for (int64_t step = 0; step < size_; ++step) {
      HONE_ASSIGN_OR_RETURN(Values element, Read(line, IndexOf(Affine(step))));
      HONE_ASSIGN_OR_RETURN(sums, Combine(std::move(sums), std::move(element)));
      prefixes.push_back(sums);
    }
    // In the order of memory.
    if (scan_.is_reversed) std::reverse(prefixes.begin(), prefixes.end());
    for (int64_t i = 0; i < size_; ++i) {
      Write(line, Affine(i), std::move(prefixes[static_cast<size_t>(i)]));
    }
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  // Chooses the dimension that has the lines side by side, and their number.
  void ChooseTile() {
    tile_dimension_ = sizes_.size();
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (d == scan_.dimension || sizes_[d] == 1) continue;
      if (tile_dimension_ == sizes_.size() ||
          sizes_[d] > sizes_[tile_dimension_]) {
        tile_dimension_ = d;
      }
    }
    if (tile_dimension_ == sizes_.size()) return;
    if (IsInnermost() && size_ <= kMostTransposed && !scan_.is_reversed) {
      lines_at_once_ = kLinesOfVectors;
      // Adjacent lines, if there are enough.
      for (size_t d = 0; d < scan_.dimension; ++d) {
        if (sizes_[d] >= lines_at_once_) tile_dimension_ = d;
      }
    }
    tile_ = lines_at_once_;
    // The innermost dimension is contiguous.
    size_t last = sizes_.size() - 1;
    while (sizes_[last] == 1) --last;
    if (last != scan_.dimension && sizes_[last] >= kMinColumns) {
      tile_dimension_ = last;
      tile_ = kColumns;
    }
    tile_ = std::min(tile_, std::max<int64_t>(sizes_[tile_dimension_], 1));
  }

  // Opens loops over the dimensions without lines side by side.
  Indices OpenOuter() {
    Indices at(sizes_.size());
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (d == scan_.dimension || d == tile_dimension_) continue;
      at[d] = nest_.AddLoop(sizes_[d]);
    }
    return at;
  }

  // Returns the index along the scanned dimension of the element at `position`
  // in the order of the scan.
  Affine IndexOf(const Affine& position) const {
    return scan_.is_reversed ? Affine(size_ - 1) - position : position;
  }

  absl::StatusOr<Values> Read(Indices at, const Affine& index) {
    at[scan_.dimension] = index;
    Values values;
    for (size_t i = 0; i < results_.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                            writer_.Read(nest_, operands_[i], at));
      values.push_back(Converted(types_[i], std::move(element)));
    }
    return values;
  }

  absl::StatusOr<Values> Inits() {
    Values values;
    for (size_t i = 0; i < results_.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(
          ExpressionPtr init,
          writer_.Read(nest_, operands_[results_.size() + i], {}));
      values.push_back(Converted(types_[i], std::move(init)));
    }
    return values;
  }

  void Write(Indices at, const Affine& index, Values values) {
    at[scan_.dimension] = index;
    for (size_t i = 0; i < results_.size(); ++i) {
      nest_.Store(writer_.Target(nest_, results_[i], at),
                  Converted(graph_.type(results_[i]), std::move(values[i])));
    }
  }

  // Combines the result for some elements with that for those that follow.
  absl::StatusOr<Values> Combine(Values before, Values after) const {
    if (opcode_.has_value()) {
      return Values{Expression::Apply(*opcode_, types_[0],
                                      {before[0], std::move(after[0])})};
    }
    if (scan_.is_reversed) std::swap(before, after);
    before.insert(before.end(), after.begin(), after.end());
    return ApplyRegion(graph_.module(), region_, before);
  }

  std::vector<BufferId> Temporaries(absl::string_view name,
                                    absl::Span<const int64_t> dimensions) {
    std::vector<BufferId> buffers;
    for (ElementType type : types_) {
      buffers.push_back(nest_.Temporary(name, type, dimensions));
    }
    return buffers;
  }

  Values Load(const std::vector<BufferId>& buffers, const Indices& at) const {
    Values values;
    for (BufferId buffer : buffers)
      values.push_back(writer_.Load({buffer, at}));
    return values;
  }

  void Hold(const std::vector<BufferId>& buffers, const Indices& at,
            Values values) {
    std::vector<Access> targets;
    for (BufferId buffer : buffers) targets.push_back({buffer, at});
    StoreTogether(writer_, nest_, targets, std::move(values), nullptr);
  }

  // Writes `count` runs of `length` steps side by side. The sum of each starts
  // with first(run), combines element(run, step), and goes to `store` after
  // each step.
  absl::Status WriteRuns(int64_t count, int64_t length, ValuesFn first,
                         StepFn element, StoreFn store) {
    DimensionVector dimensions;
    if (count > 1) dimensions.push_back(count);
    const std::vector<BufferId> sums = Temporaries("sum", dimensions);
    const auto at = [&](const Affine& run) {
      return count > 1 ? Indices{Index(run)} : Indices();
    };
    const size_t depth = nest_.depth();
    const Affine started = nest_.AddLoop(count);
    HONE_ASSIGN_OR_RETURN(Values values, first(started));
    Hold(sums, at(started), std::move(values));
    nest_.CloseTo(depth);
    const Affine step = nest_.AddLoop(length);
    const Affine run = nest_.AddLoop(count);
    HONE_ASSIGN_OR_RETURN(values, element(run, step));
    HONE_ASSIGN_OR_RETURN(values, Combine(Load(sums, at(run)), values));
    Hold(sums, at(run), std::move(values));
    store(run, step, Load(sums, at(run)));
    nest_.CloseTo(depth);
    return absl::OkStatus();
  }

  // Scans `tiles` times `tile` lines, from line `begin` on.
  absl::Status WriteLines(int64_t begin, int64_t tiles, int64_t tile) {
    if (tiles == 0) return absl::OkStatus();
    Indices outer = OpenOuter();
    const Affine number = nest_.AddLoop(tiles);
    const auto at = [&](const Affine& run) {
      Indices line = outer;
      if (tile_dimension_ < line.size()) {
        line[tile_dimension_] = number * tile + run + begin;
      }
      return line;
    };
    HONE_RETURN_IF_ERROR(WriteRuns(
        tile, size_, [&](const Affine&) { return Inits(); },
        [&](const Affine& run, const Affine& step) {
          return Read(at(run), IndexOf(step));
        },
        [&](const Affine& run, const Affine& step, Values values) {
          Write(at(run), IndexOf(step), std::move(values));
        }));
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  // Scans long lines in parts: sums the parts, scans these sums, and scans each
  // part from there.
  absl::Status DivideLines() {
    tile_dimension_ = sizes_.size();
    const Indices line = OpenOuter();
    const size_t depth = nest_.depth();
    const int64_t length = size_ / kParts;
    const std::vector<BufferId> totals = Temporaries("total", {kParts});
    const std::vector<BufferId> starts = Temporaries("start", {kParts + 1});
    HONE_RETURN_IF_ERROR(SumParts(line, length, totals));

    const std::vector<BufferId> sums = Temporaries("sum", {});
    HONE_ASSIGN_OR_RETURN(Values values, Inits());
    Hold(sums, {}, std::move(values));
    const Affine summed = nest_.AddLoop(kParts);
    Hold(starts, {Index(summed)}, Load(sums, {}));
    HONE_ASSIGN_OR_RETURN(
        values, Combine(Load(sums, {}), Load(totals, {Index(summed)})));
    Hold(sums, {}, std::move(values));
    nest_.CloseTo(depth);
    Hold(starts, {Index(kParts)}, Load(sums, {}));

    // The last part has the elements that are left over.
    const Affine tile = nest_.AddLoop(kParts / lines_at_once_);
    const auto scan = [&](const Affine& begin, int64_t count, int64_t steps) {
      return WriteRuns(
          count, steps,
          [&](const Affine& run) -> absl::StatusOr<Values> {
            return Load(starts, {Index(begin + run)});
          },
          [&](const Affine& run, const Affine& step) {
            return Read(line, IndexOf((begin + run) * length + step));
          },
          [&](const Affine& run, const Affine& step, Values sum) {
            Write(line, IndexOf((begin + run) * length + step), std::move(sum));
          });
    };
    HONE_RETURN_IF_ERROR(scan(tile * lines_at_once_, lines_at_once_, length));
    nest_.CloseTo(depth);
    if (const int64_t rest = size_ % kParts; rest > 0) {
      HONE_RETURN_IF_ERROR(scan(kParts, 1, rest));
    }
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  // Stores the sums over the first kParts parts of a line in `totals`.
  absl::Status SumParts(const Indices& line, int64_t length,
                        const std::vector<BufferId>& totals) {
    const size_t depth = nest_.depth();
    if (opcode_.has_value()) {
      // In memory order, which vectors prefer.
      const Affine part = nest_.AddLoop(kParts);
      const Access total{totals[0], {Index(part)}};
      nest_.Store(total, IdentityOf(*opcode_, types_[0]));
      const Affine step = nest_.AddLoop(length);
      const Affine begin = scan_.is_reversed
                               ? IndexOf(part * length + (length - 1))
                               : part * length;
      HONE_ASSIGN_OR_RETURN(Values values, Read(line, begin + step));
      nest_.Store(total, std::move(values[0]), *opcode_);
      nest_.CloseTo(depth);
      return absl::OkStatus();
    }
    const Affine begin =
        nest_.AddLoop(kParts / lines_at_once_) * lines_at_once_;
    const auto read = [&](const Affine& run, const Affine& step) {
      return Read(line, IndexOf((begin + run) * length + step));
    };
    HONE_RETURN_IF_ERROR(WriteRuns(
        lines_at_once_, length - 1,
        [&](const Affine& run) { return read(run, 0); },
        [&](const Affine& run, const Affine& step) {
          return read(run, step + 1);
        },
        [&](const Affine& run, const Affine&, Values sum) {
          Hold(totals, {Index(begin + run)}, std::move(sum));
        }));
    nest_.CloseTo(depth);
    return absl::OkStatus();
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const Scan scan_;
  const absl::Span<const ValueId> results_;
  const std::vector<ValueId>& operands_;
  const DimensionVector& sizes_;
  const int64_t size_;
  const hlo::ComputationId region_;
  std::optional<Opcode> opcode_;
  // The types of the sums.
  std::vector<ElementType> types_;
  int64_t lines_at_once_ = 1;
  // No dimension if there is a single line.
  size_t tile_dimension_ = 0;
  int64_t tile_ = 1;
};

}  // namespace

std::optional<Scan> AsScan(const hlo::Window& window,
                           const hlo::DimensionVector& sizes) {
  std::optional<Scan> scan;
  for (size_t d = 0; d < window.size(); ++d) {
    const hlo::WindowDimension& w = window[d];
    if (IsTrivial(w)) continue;
    const bool is_prefix = w.padding_low == w.size - 1 && w.padding_high == 0;
    const bool is_suffix = w.padding_low == 0 && w.padding_high == w.size - 1;
    if (scan.has_value() || w.size < sizes[d] || w.stride != 1 ||
        w.window_dilation != 1 || w.base_dilation != 1 || w.reversal ||
        (!is_prefix && !is_suffix)) {
      return std::nullopt;
    }
    scan = Scan{d, is_suffix};
  }
  return scan;
}

absl::Status WriteScan(KernelWriter& writer, Nest& nest, hlo::InstructionId id,
                       const Scan& scan) {
  return ScanWriter(writer, nest, id, scan).Run();
}

}  // namespace hone::loops

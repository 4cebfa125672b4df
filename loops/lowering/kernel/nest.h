#ifndef HONE_LOOPS_LOWERING_KERNEL_NEST_H_
#define HONE_LOOPS_LOWERING_KERNEL_NEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/analysis/interval.h"
#include "loops/ir/program.h"
#include "loops/lowering/kernel/buffer_names.h"
#include "loops/lowering/kernel/indexing.h"

namespace hone::loops {

// Builds the loop nest of one HLO instruction. Loops are opened, filled and
// closed like brackets.
//
// Some indices are affine only if a loop is split into two, over a quotient and
// a remainder. Code that finds this out calls RequestSplit; the nest is then
// discarded and written again with that loop split.
class Nest {
 public:
  // For each call of AddLoop, in order: the extents of the loops that implement
  // it, outermost first; initially a single one.
  using Factors = std::vector<std::vector<int64_t>>;

  // `factors` holds the splits of earlier attempts and must outlive this
  // object.
  Nest(Program& program, BufferNames& names, Factors& factors)
      : program_(program), names_(names), factors_(factors) {}

  // Opens a loop inside the current one and returns its index. A loop of one
  // iteration is omitted, and its index is 0.
  Affine AddLoop(int64_t extent);
  // Opens one loop per extent, each inside the one before.
  Indices AddLoops(absl::Span<const int64_t> extents);
  // Opens a loop that stops before `bound`.
  Affine AddBoundedLoop(int64_t extent, const Affine& bound);

  // The number of open loops; CloseTo closes all but the `depth` outermost.
  size_t depth() const { return open_.size(); }
  void CloseTo(size_t depth);

  // Adds a statement to the current loop (fields as in Statement).
  void Store(Access target, ExpressionPtr value,
             std::optional<hlo::Opcode> combine = std::nullopt,
             ExpressionPtr predicate = nullptr);
  // Declares a local buffer in the current loop.
  BufferId Temporary(absl::string_view name, hlo::ElementType type,
                     absl::Span<const int64_t> dimensions = {});
  // Stores `value` in a scalar of the current loop, so that it is computed
  // once, and returns a load of it.
  ExpressionPtr Hold(absl::string_view name, ExpressionPtr value);

  int64_t extent(VarId var) const { return extents_.at(var); }
  Interval RangeOf(const Affine& affine) const {
    return loops::RangeOf(affine, [this](VarId v) {
      return Interval{0, extent(v) - 1};
    });
  }
  // The function of indexing.h; sets `split` only if this nest can do the
  // split.
  std::optional<Indices> Reindex(
      absl::Span<const int64_t> from, absl::Span<const int64_t> to,
      const Indices& indices, std::optional<VarSplit>* split = nullptr) const;

  void RequestSplit(const VarSplit& split) { split_ = split; }
  // Returns true if this attempt must be discarded.
  bool must_restart() const { return split_.has_value(); }
  // Applies the requested split to the factors; requires must_restart().
  void ApplySplit();
  // Appends the nest to the program. All loops must be closed.
  void Finish();

 private:
  // The position of a variable among the factors.
  struct Place {
    size_t loop = 0;
    size_t factor = 0;
  };

  VarId OpenLoop(int64_t extent);
  std::vector<Node>& body() {
    return open_.empty() ? body_ : open_.back().body;
  }

  Program& program_;
  BufferNames& names_;
  Factors& factors_;
  size_t next_loop_ = 0;
  std::vector<Loop> open_;
  std::vector<Node> body_;
  std::vector<BufferId> locals_;
  absl::flat_hash_map<VarId, int64_t> extents_;
  absl::flat_hash_map<VarId, Place> places_;
  std::optional<VarSplit> split_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_NEST_H_

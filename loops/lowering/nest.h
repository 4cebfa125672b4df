#ifndef HONE_LOOPS_LOWERING_NEST_H_
#define HONE_LOOPS_LOWERING_NEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "loops/interval.h"
#include "loops/lowering/buffer_names.h"
#include "loops/lowering/indexing.h"
#include "loops/program.h"

namespace hone::loops {

// The loops of one HLO instruction while they are written: scopes are opened,
// filled and closed like brackets.
//
// Some indices can only be written down when a loop runs as two, over a
// quotient and a remainder. Whoever finds that out calls RequestSplit; what is
// written is then worth nothing, and written again with that loop split.
class Nest {
 public:
  // For each call of Loop, in order: the extents that make up its own,
  // outermost first; a single one at first.
  using Factors = std::vector<std::vector<int64_t>>;

  // `factors` holds what earlier attempts asked for and must outlive this.
  Nest(Program& program, BufferNames& names, Factors& factors)
      : program_(program), names_(names), factors_(factors) {}

  // Opens a scope inside the current one; its index. A loop of one iteration
  // needs none.
  Affine Loop(int64_t extent);
  // One inside the other.
  Indices Loops(absl::Span<const int64_t> extents);
  // Likewise, for as long as the variable is less than `bound`.
  Affine BoundedLoop(int64_t extent, const Affine& bound);

  // Closes all but the `depth` outermost scopes.
  size_t depth() const { return open_.size(); }
  void CloseTo(size_t depth);

  // Adds a statement to the current scope; fields as Statement's.
  void Store(Access target, ExpressionPtr value,
             std::optional<hlo::Opcode> combine = std::nullopt,
             ExpressionPtr predicate = nullptr);
  // A local buffer of the current scope.
  BufferId Temporary(absl::string_view name, hlo::ElementType type,
                     absl::Span<const int64_t> dimensions = {});

  int64_t extent(VarId var) const { return extents_.at(var); }
  Interval RangeOf(const Affine& affine) const {
    return loops::RangeOf(affine, [this](VarId v) {
      return Interval{0, extent(v) - 1};
    });
  }
  // As the function of indexing.h; `split` is set to what loops can do only.
  std::optional<Indices> Reindex(
      absl::Span<const int64_t> from, absl::Span<const int64_t> to,
      const Indices& indices, std::optional<VarSplit>* split = nullptr) const;

  void RequestSplit(const VarSplit& split) { split_ = split; }
  // Whether this attempt is to be thrown away.
  bool must_restart() const { return split_.has_value(); }
  // Writes the split into the factors. Only if must_restart.
  void ApplySplit();
  // Appends everything to the program. All scopes must be closed.
  void Finish();

 private:
  // Where a variable stands among the factors.
  struct Place {
    size_t loop = 0;
    size_t factor = 0;
  };

  VarId OpenScope(int64_t extent);
  std::vector<Node>& body() {
    return open_.empty() ? body_ : open_.back().body;
  }

  Program& program_;
  BufferNames& names_;
  Factors& factors_;
  size_t next_loop_ = 0;
  std::vector<Scope> open_;
  std::vector<Node> body_;
  std::vector<BufferId> locals_;
  absl::flat_hash_map<VarId, int64_t> extents_;
  absl::flat_hash_map<VarId, Place> places_;
  std::optional<VarSplit> split_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_NEST_H_

#include "loops/schedules/contraction.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/rewrite.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/peel_bounds.h"
#include "loops/schedules/vectorise_leaves.h"

namespace hone::loops {
namespace {

constexpr int64_t kRegisterMemory = 2;  // Of set_memory.
constexpr int64_t kTileRows = 6;
// Tiles of rows from which a panel of the columns' factor is read often enough
// to be copied.
constexpr int64_t kTilesWorthPanels = 3;

Path Child(Path path, int32_t number) {
  path.push_back(number);
  return path;
}

// A contraction on its way into tiles: a chain of scopes, each the only child
// of the one before, with the statement at its end.
class ContractionScheduler {
 public:
  ContractionScheduler(Scheduler& s, Path nest)
      : s_(s), nest_(std::move(nest)) {}

  bool Run() {
    const Scheduler::Mark mark = s_.MarkHere();
    if (SeparateInit() && Tile()) {
      const Path init = nest_;
      VectoriseLeaves(s_, init);
      ShareOut(s_, init);
      return true;
    }
    s_.Return(mark);
    return false;
  }

 private:
  const Scope* ScopeAt(const Path& path) const {
    return s_.program().Has(path) ? s_.program().At(path).scope() : nullptr;
  }

  // The contraction in the nest at `path`.
  std::optional<Contraction> Find(const Path& path) const {
    std::optional<Contraction> found;
    VisitStatements(s_.program(), path, [&](const Path& at, const Statement&) {
      if (!found.has_value()) found = AsContraction(s_.program(), at);
    });
    return found;
  }

  // Makes two nests of the one: what gives the sums their first value, and the
  // contraction, a chain.
  bool SeparateInit() {
    const std::optional<Contraction> found = Find(nest_);
    if (!found.has_value()) return false;
    int statements = 0;
    VisitStatements(s_.program(), nest_,
                    [&](const Path&, const Statement&) { ++statements; });
    if (statements != 2) return false;
    // The scope that has both, then those around it.
    Path at(found->path.begin(), found->path.end());
    while (!at.empty() && at.back() == 0) at.pop_back();
    if (at.size() <= nest_.size()) return false;
    at.pop_back();
    for (; at.size() >= nest_.size(); at.pop_back()) {
      if (!s_.Do("fission", at, {1})) return false;
    }
    chain_ = nest_;
    ++chain_.back();
    return true;
  }

  // The scopes of the chain, outermost first.
  std::vector<const Scope*> Chain() const {
    std::vector<const Scope*> scopes;
    for (const Scope* scope = ScopeAt(chain_); scope != nullptr;
         scope = OnlyChildScope(*scope)) {
      scopes.push_back(scope);
    }
    return scopes;
  }
  size_t DepthOf(VarId var) const {
    const std::vector<const Scope*> chain = Chain();
    return static_cast<size_t>(
        absl::c_find_if(chain, [&](const Scope* s) { return s->var == var; }) -
        chain.begin());
  }
  Path AtDepth(size_t depth) const {
    Path path = chain_;
    path.resize(chain_.size() + depth, 0);
    return path;
  }
  const Scope& ScopeOf(VarId var) const { return *Chain()[DepthOf(var)]; }

  bool MoveTo(VarId var, size_t depth) {
    for (size_t at = DepthOf(var); at != depth;) {
      const bool inwards = at < depth;
      if (!s_.Do("interchange", AtDepth(inwards ? at : at - 1))) return false;
      at += inwards ? size_t{1} : static_cast<size_t>(-1);
    }
    return true;
  }

  // Splits the scope of `var` unless it is no longer than `factor`; the inner
  // part's variable.
  bool Split(VarId var, int64_t factor, VarId& outer, VarId& inner) {
    const size_t depth = DepthOf(var);
    if (!s_.Do("split", AtDepth(depth), {factor})) return false;
    const std::vector<const Scope*> chain = Chain();
    outer = chain[depth]->var;
    inner = chain[depth + 1]->var;
    return true;
  }

  bool Tile() {
    std::optional<Contraction> c = Find(chain_);
    if (!c.has_value()) return false;
    target_ = s_.program().At(c->path).statement()->target.buffer;
    if (!ChooseColumn(*c)) return false;
    const VarId row = c->rows.back();
    const BufferId panels_of = c->b->buffer;
    const bool contiguous = StrideOf(s_.program(), *c->b, column_) == 1;
    double rows = 1;
    for (VarId var : c->rows) rows *= static_cast<double>(ScopeOf(var).extent);
    const std::vector<VarId> sums = c->sums;
    const size_t batches = c->batches.size();

    const int64_t lanes = s_.machine().vector_bytes / 4;
    const int64_t wide = s_.machine().vector_registers >= 32 ? 4 : 2;
    const int64_t column_extent = ScopeOf(column_).extent;
    const int64_t row_extent = ScopeOf(row).extent;
    const int64_t columns =
        std::min(wide * lanes, (column_extent + lanes - 1) / lanes * lanes);

    // Tiles: the parts inside go innermost, rows before columns.
    VarId row_tiles = -1;
    VarId row_in = row;
    if (row_extent > kTileRows && !Split(row, kTileRows, row_tiles, row_in)) {
      return false;
    }
    VarId column_tiles = -1;
    VarId column_in = column_;
    if (column_extent > columns &&
        !Split(column_, columns, column_tiles, column_in)) {
      return false;
    }
    const size_t last = Chain().size() - 1;
    if (!MoveTo(row_in, last) || !MoveTo(column_in, last)) return false;
    // Columns' tiles outermost but for batches, so that one panel serves all
    // rows; then the sums, in their order, inside the rows.
    if (column_tiles >= 0 && !MoveTo(column_tiles, batches)) return false;
    if (!BlockSums(sums, columns)) return false;

    Path inner = AtDepth(DepthOf(column_in));
    if (ScopeOf(column_in).extent > lanes) {
      if (!s_.Do("split", inner, {lanes}) || !s_.Do("unroll", inner)) {
        return false;
      }
      inner.push_back(0);
    }
    if (!s_.Do("vectorise", inner)) return false;
    s_.Do("unroll", AtDepth(DepthOf(row_in)));

    // The registers around the sums, then the panel around the rows.
    const size_t first_sum = FirstInnerSum();
    if (first_sum == 0) return false;
    const Path around_sums = AtDepth(first_sum - 1);
    const size_t panel_depth =
        column_tiles >= 0 ? DepthOf(column_tiles) : Chain().size();
    if (!s_.Do("accumulate_locally", around_sums, {target_})) return false;
    s_.Do("set_memory", {},
          {static_cast<int64_t>(s_.program().buffers().size()) - 1,
           kRegisterMemory});
    const bool worth_panels =
        !contiguous ||
        rows >= static_cast<double>(kTilesWorthPanels * kTileRows);
    if (panel_depth < first_sum - 1 && worth_panels) {
      const Path panel = AtDepth(panel_depth);
      if (s_.Do("pack", panel, {panels_of, 1})) {
        VectoriseLeaves(s_, Child(panel, 0));
      }
    }
    PeelBounds(s_, chain_);
    ShareOut(s_, chain_);
    return true;
  }

  // The column that vectors go along: the target is contiguous in it.
  bool ChooseColumn(Contraction& c) {
    const auto contiguous = [&](VarId var) {
      const Access& target = s_.program().At(c.path).statement()->target;
      return StrideOf(s_.program(), target, var) == 1;
    };
    if (absl::c_none_of(c.columns, contiguous)) {
      std::swap(c.a, c.b);
      std::swap(c.rows, c.columns);
    }
    const auto found = absl::c_find_if(c.columns, contiguous);
    if (found == c.columns.end()) return false;
    column_ = *found;
    return true;
  }

  // Where the panel of all sums would not fit in half of the second cache, the
  // outermost sum is split, and its outer part goes around everything.
  bool BlockSums(std::vector<VarId> sums, int64_t columns) {
    int64_t bytes = 4 * columns;
    for (VarId var : sums) bytes *= ScopeOf(var).extent;
    const int64_t room = s_.machine().l2_bytes / 2;
    if (bytes <= room) return true;
    const int64_t extent = ScopeOf(sums[0]).extent;
    const int64_t blocks = (bytes + room - 1) / room;
    const int64_t block = (extent + blocks - 1) / blocks;
    if (block < 16 || block >= extent) return true;
    VarId outer = 0;
    VarId inner = 0;
    return Split(sums[0], block, outer, inner) && MoveTo(outer, 0);
  }

  // The depth of the outermost of the sums that are inside of what moves the
  // target; those of blocks are outside.
  size_t FirstInnerSum() const {
    const std::optional<Contraction> c = Find(chain_);
    const std::vector<const Scope*> chain = Chain();
    size_t depth = chain.size();
    const auto is_sum = [&](size_t at) {
      return absl::c_linear_search(c->sums, chain[at]->var);
    };
    while (depth > 0 && !is_sum(depth - 1)) --depth;
    while (depth > 0 && is_sum(depth - 1)) --depth;
    return depth;
  }

  Scheduler& s_;
  const Path nest_;
  Path chain_;
  BufferId target_ = 0;
  VarId column_ = 0;
};

}  // namespace

bool ScheduleContraction(Scheduler& scheduler, const Path& path) {
  return ContractionScheduler(scheduler, path).Run();
}

}  // namespace hone::loops

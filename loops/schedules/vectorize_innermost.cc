#include "loops/schedules/vectorize_innermost.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "loops/ir/code_limits.h"
#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/peel_bounds.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// The number of independent partial sums, which hide the latency of an
// addition, four cycles.
constexpr int64_t kPartialSums = 4;
constexpr int64_t kShortLoop = 8;
// Vectors of this size have masks of a bit per lane.
constexpr int64_t kMaskedBytes = 64;
// Vectors on each side of a place where a range begins or ends that pay off as
// loops of their own.
constexpr int64_t kWorthPeeling = 8;
// Vectors per iteration of an innermost loop without sums: they share
// constants, and overlap each other's latency.
constexpr int64_t kVectorsAtOnce = 4;
// Those of them that are one vector to the code generator, which interleaves
// their instructions, where these are long chains: more would be more constants
// and intermediate values than registers hold.
constexpr int64_t kVectorsTogether = 2;
// The least work, of WorkOf, for which waking threads pays off.
constexpr double kWorthThreads = 32'768;
// The same if other parallel work follows at once.
constexpr double kWorthThreadsInside = 8 * kWorthThreads;
// The size of a transposed block along the dimension that is read contiguously;
// the other side is a vector, since rows a power of two apart map to the same
// cache set, which has about as many ways as a vector has lanes.
constexpr int64_t kBlock = 64;
// The part of L1 for sums over rows that are kept while the rows are read.
constexpr int64_t kSumsKept = 2048;

// The strides of the accesses in an innermost loop with respect to one
// variable.
struct AccessStrides {
  // Every store has stride 1 or 0, or a small stride beside as many such stores
  // of the same array: the backend interleaves them.
  bool stores_fit = true;
  // Some reduction's target has stride 0.
  bool sums = false;
  // The number of loads with stride 1, and with other strides except 0.
  int fitting_loads = 0;
  int other_loads = 0;
};

AccessStrides StridesAlong(const Program& program, const Loop& leaf,
                           VarId var) {
  AccessStrides strides;
  absl::flat_hash_map<std::pair<BufferId, int64_t>, int64_t> interleaved;
  for (const Node& node : leaf.body) {
    const Statement& statement = *node.statement();
    VisitAccesses(statement, [&](const Access& access, bool is_target) {
      const std::optional<int64_t> stride = StrideOf(program, access, var);
      if (is_target) {
        if (stride.value_or(0) > 1 && *stride <= kMostInterleavedStores &&
            !statement.combine.has_value()) {
          ++interleaved[{access.buffer, *stride}];
        } else {
          strides.stores_fit &= stride == 0 || stride == 1;
        }
        strides.sums |= stride == 0 && statement.combine.has_value();
      } else if (stride == 1) {
        ++strides.fitting_loads;
      } else if (stride != 0) {
        ++strides.other_loads;
      }
    });
  }
  for (const auto& [group, stores] : interleaved) {
    strides.stores_fit &= stores % group.second == 0;
  }
  return strides;
}

// Returns true if a statement of the loop has a kWhere or a predicate.
bool HasCondition(const Loop& leaf) {
  return absl::c_any_of(leaf.body, [](const Node& node) {
    return node.statement()->value->kind() == Expression::Kind::kWhere ||
           node.statement()->predicate != nullptr;
  });
}

// The same for ranges of values that depend on `var`.
bool HasRange(const Loop& leaf, VarId var) {
  return absl::c_any_of(leaf.body, [&](const Node& node) {
    const Expression& value = *node.statement()->value;
    return value.kind() == Expression::Kind::kWhere &&
           absl::c_any_of(value.ranges(), [&](const Range& range) {
             return range.value.Uses(var);
           });
  });
}

// Returns the number of lanes for the widest element type in the loop.
int64_t LanesFor(const Scheduler& s, const Loop& leaf) {
  int64_t widest = 1;
  for (const Node& node : leaf.body) {
    VisitAccesses(*node.statement(), [&](const Access& access, bool) {
      widest = std::max(widest,
                        hlo::ByteWidth(s.program().buffer(access.buffer).type));
    });
  }
  return std::clamp<int64_t>(
      s.machine().vector_bytes / std::max<int64_t>(widest, 4), 2, 64);
}

class InnermostVectorizer {
 public:
  InnermostVectorizer(Scheduler& s, const Path& nest)
      : s_(s), nest_(nest), siblings_(Siblings()) {}

  void Run() {
    while (const std::optional<Path> leaf = NextLoop()) {
      if (Reorder(*leaf) || MoveIn(*leaf) || Collapse(*leaf) || Tile(*leaf) ||
          PeelLongRange(s_, *leaf, kWorthPeeling * s_.machine().vector_bytes)) {
        continue;
      }
      seen_.push_back(s_.program().At(*leaf).loop_ptr());
      Vectorize(*leaf);
    }
  }

 private:
  // Returns the next unfinished innermost loop of the nest, or of a part split
  // off from it.
  std::optional<Path> NextLoop() const {
    const size_t parts = Siblings() - siblings_ + 1;
    for (size_t i = 0; i < parts; ++i) {
      Path root = nest_;
      root.back() += static_cast<int32_t>(i);
      for (const Path& leaf : SequentialInnermostLoops(s_.program(), root)) {
        if (!absl::c_linear_search(seen_, s_.program().At(leaf).loop_ptr())) {
          return leaf;
        }
      }
    }
    return std::nullopt;
  }

  // Returns the number of nodes in the body that contains the nest.
  size_t Siblings() const { return BodyAt(s_.program(), Parent(nest_)).size(); }

  const Loop* LoopAt(const Path& path) const {
    return path.empty() || path.size() < nest_.size()
               ? nullptr
               : s_.program().At(path).loop();
  }

  // Reorders the leaf with the loop around it if that has contiguous accesses
  // and the leaf has not.
  bool Reorder(const Path& leaf) {
    const Path above = Parent(leaf);
    const Loop* const parent = LoopAt(above);
    if (parent == nullptr || !turned_.insert(parent->var).second) return false;
    const Loop& loop = *LoopAt(leaf);
    const AccessStrides now = StridesAlong(s_.program(), loop, loop.var);
    const AccessStrides then = StridesAlong(s_.program(), loop, parent->var);
    const bool better = (then.stores_fit && !now.stores_fit) ||
                        (then.stores_fit && !then.sums && now.sums &&
                         then.other_loads < now.other_loads);
    if (!better) return false;
    const Scheduler::Checkpoint mark = s_.Save();
    Path around = above;
    if (parent->body.size() > 1) {
      // The initialization of sums stays outside.
      if (leaf.back() + 1 != static_cast<int32_t>(parent->body.size()) ||
          !s_.Try("fission", above, {leaf.back()})) {
        return false;
      }
      ++around.back();
    }
    if (!s_.Try("reorder", around)) {
      s_.Restore(mark);
      return false;
    }
    if (now.sums) KeepSums(around);
    return true;
  }

  // Makes a loop further out the innermost one if stores are contiguous along
  // it, and not along the leaf.
  bool MoveIn(const Path& leaf) {
    const Loop& loop = *LoopAt(leaf);
    if (StridesAlong(s_.program(), loop, loop.var).stores_fit) return false;
    for (Path at = Parent(leaf);; at = Parent(at)) {
      const Loop* const around = LoopAt(at);
      if (around == nullptr || OnlyChildLoop(*around) == nullptr) return false;
      const AccessStrides then = StridesAlong(s_.program(), loop, around->var);
      if (!then.stores_fit || then.sums) continue;
      if (!turned_.insert(around->var).second) return false;
      const Scheduler::Checkpoint mark = s_.Save();
      for (Path outer = at; outer.size() < leaf.size(); outer.push_back(0)) {
        if (s_.Try("reorder", outer)) continue;
        s_.Restore(mark);
        return false;
      }
      return true;
    }
  }

  // Blocks sums over rows, with the loop of the rows at `rows`, so that the
  // sums of a block stay in L1 and threads can divide the blocks.
  void KeepSums(const Path& rows) {
    const Path sums = Child(rows, 0);
    const int64_t share = (LoopAt(sums)->extent + s_.machine().threads - 1) /
                          s_.machine().threads;
    const int64_t block = std::min(kSumsKept, (share + 15) / 16 * 16);
    if (block >= LoopAt(sums)->extent) return;
    const Scheduler::Checkpoint mark = s_.Save();
    if (!s_.Try("split", sums, {block}) || !s_.Try("reorder", rows)) {
      s_.Restore(mark);
      return;
    }
    PeelBounds(s_, rows);
  }

  // Tiles a leaf whose stores are contiguous, and a loop around it along which
  // loads are contiguous, as in transposes: blocks for the caches, and in them
  // blocks of a vector's length on both sides, which are transposed in
  // registers.
  bool Tile(const Path& leaf) {
    const std::optional<Path> across = LoopAcross(leaf);
    if (!across.has_value()) return false;
    const Scheduler::Checkpoint mark = s_.Save();
    Path outer = *across;
    for (; outer.size() + 1 < leaf.size(); outer.push_back(0)) {
      if (s_.Try("reorder", outer)) continue;
      s_.Restore(mark);
      return false;
    }
    const int64_t lanes = LanesFor(s_, *LoopAt(leaf));
    const int64_t block = s_.Choose(Choice::kBlock, kBlock);
    const int64_t rows = LoopAt(outer)->extent;
    bool changes = outer != *across;
    const int64_t columns = LoopAt(leaf)->extent;
    if (columns > lanes) {
      const int64_t side = rows > block && columns > block ? block : lanes;
      const bool is_cut = rows > side ? s_.Try("tile", outer, {side, side})
                                      : s_.Try("split", leaf, {lanes}) &&
                                            s_.Try("reorder", outer);
      if (!is_cut) {
        s_.Restore(mark);
        return false;
      }
      PeelBounds(s_, outer);
      return true;
    }
    if (rows > lanes && s_.Try("split", outer, {lanes})) {
      if (rows % lanes != 0) s_.Try("peel", outer, {rows / lanes});
      return true;
    }
    return s_.Try("unroll", outer) || changes;
  }

  // Returns the innermost loop around a leaf, nothing else being between them,
  // along which loads are contiguous that are strided along the leaf.
  std::optional<Path> LoopAcross(const Path& leaf) const {
    const Loop& loop = *LoopAt(leaf);
    const AccessStrides now = StridesAlong(s_.program(), loop, loop.var);
    if (!now.stores_fit || now.sums || now.other_loads == 0 ||
        loop.bound.has_value()) {
      return std::nullopt;
    }
    for (Path at = Parent(leaf);; at = Parent(at)) {
      const Loop* const around = LoopAt(at);
      if (around == nullptr || OnlyChildLoop(*around) == nullptr ||
          around->mode != LoopMode::kSequential || around->bound.has_value()) {
        return std::nullopt;
      }
      const AccessStrides then = StridesAlong(s_.program(), loop, around->var);
      if (then.fitting_loads == 0) continue;
      // Conditions that may differ within a block stay in it.
      if (HasRange(loop, around->var)) return std::nullopt;
      return at;
    }
  }

  // Collapses a leaf that is too short for vectors with the loop around it.
  // Whatever its length, if one sum is left of both.
  bool Collapse(const Path& leaf) {
    const Loop* const parent = LoopAt(Parent(leaf));
    const Loop& loop = *LoopAt(leaf);
    const int64_t lanes = LanesFor(s_, loop);
    if (parent == nullptr || parent->body.size() != 1 ||
        loop.extent % lanes == 0 ||
        (loop.extent > 8 * lanes && !IsSumOfAll(*parent, loop))) {
      return false;
    }
    return s_.Try("collapse", Parent(leaf));
  }

  // Returns true if no statement of `leaf` has another target in another
  // iteration of that loop, or of the one around it.
  bool IsSumOfAll(const Loop& around, const Loop& leaf) const {
    return absl::c_all_of(leaf.body, [&](const Node& node) {
      const Statement& statement = *node.statement();
      return statement.combine.has_value() &&
             StrideOf(s_.program(), statement.target, leaf.var) == 0 &&
             StrideOf(s_.program(), statement.target, around.var) == 0;
    });
  }

  void Vectorize(const Path& leaf) {
    const Loop loop = *LoopAt(leaf);
    const AccessStrides strides = StridesAlong(s_.program(), loop, loop.var);
    const int64_t lanes = LanesFor(s_, loop);
    if (!strides.stores_fit || loop.bound.has_value()) return;
    if (loop.extent <= lanes) {
      s_.Try("vectorize", leaf);
      return;
    }
    // Rests of a few vectors leave no choice.
    int64_t unroll = loop.extent < 4 * lanes ? 1
                     : strides.sums
                         ? s_.Choose(Choice::kPartialSums, kPartialSums)
                         : s_.Choose(Choice::kVectorsAtOnce,
                                     HasManyResults(loop) ? 1 : kVectorsAtOnce);
    if (loop.extent < 2 * unroll * lanes) unroll = 1;
    const int64_t step = lanes * unroll;
    const Scheduler::Checkpoint mark = s_.Save();
    if (!s_.Try("split", leaf, {step})) return;
    // The lanes of a few partial sums are combined once, also those of a last
    // vector that has a mask.
    if (strides.sums && unroll == 1 && loop.extent % step != 0 &&
        loop.extent / step < kShortLoop &&
        s_.machine().vector_bytes >= kMaskedBytes &&
        s_.Try("vectorize", Child(leaf, 0))) {
      s_.Try("unroll", leaf);
      return;
    }
    if (loop.extent % step != 0) {
      if (!s_.Try("peel", leaf, {loop.extent / step})) {
        s_.Restore(mark);
        return;
      }
    }
    // What is peeled off of a single iteration is no loop any more.
    const bool is_peeled_vector =
        loop.extent % step != 0 && loop.extent / step == 1;
    Path inner = is_peeled_vector ? leaf : Child(leaf, 0);
    const int64_t together = HasLongChains(loop) ? kVectorsTogether : 1;
    if (unroll > together && s_.Try("split", inner, {lanes * together})) {
      s_.Try("unroll", inner);
      inner = Child(inner, 0);
    }
    if (!s_.Try("vectorize", inner)) {
      s_.Restore(mark);
      return;
    }
    // An unrolled short loop of partial sums has as many accumulators. A loop
    // of copies with a margin, or of updates of a row that may be out of
    // bounds, then checks its position once. A local of a few vectors stays in
    // registers.
    if (unroll == 1 && !is_peeled_vector &&
        (((strides.sums || HasCondition(loop)) &&
          loop.extent / step <= kShortLoop) ||
         (loop.extent / step <= kVectorsAtOnce && CoversLocal(loop)))) {
      s_.Try("unroll", leaf);
    }
  }

  // Returns true if the loop accesses all elements of a local array.
  bool CoversLocal(const Loop& loop) const {
    bool covers = false;
    for (const Node& node : loop.body) {
      VisitAccesses(*node.statement(), [&](const Access& access, bool) {
        const Buffer& buffer = s_.program().buffer(access.buffer);
        covers = covers || (buffer.IsLocal() &&
                            buffer.allocated_elements() == loop.extent &&
                            StrideOf(s_.program(), access, loop.var) == 1);
      });
    }
    return covers;
  }

  static bool HasLongChains(const Loop& loop) {
    return absl::c_any_of(loop.body, [](const Node& node) {
      return HasPolynomials(*node.statement()->value);
    });
  }

  // Returns true if each iteration stores results enough to keep the processor
  // busy: several vectors at once would only be more code to compile, as in the
  // transforms of tiles of convolutions by Winograd's algorithm.
  bool HasManyResults(const Loop& loop) const {
    return loop.body.size() >= kVectorsAtOnce &&
           absl::c_all_of(loop.body, [&](const Node& node) {
             const Statement* const st = node.statement();
             return st != nullptr && !st->combine.has_value() &&
                    s_.program().buffer(st->target.buffer).dimensions.size() >
                        1;
           });
  }

  Scheduler& s_;
  const Path nest_;
  // The number of nodes beside the nest at first; parts split off follow it.
  const size_t siblings_;
  // Leaves that are finished, or cannot be vectorized.
  std::vector<std::shared_ptr<const Loop>> seen_;
  absl::flat_hash_set<VarId> turned_;
};

// Returns true if several threads that divide the loop at `path` would write
// elements of the same cache lines again and again: their parts of a line are
// short, and another loop in it goes from line to line.
bool PartsLines(const Scheduler& s, const Path& path) {
  const Loop& loop = *s.program().At(path).loop();
  const int64_t threads = s.machine().threads;
  const int64_t line = s.machine().cache_line_bytes;
  const int64_t share = (loop.extent + threads - 1) / threads;
  bool parts = false;
  VisitStatements(s.program(), path, [&](const Path& at, const Statement& st) {
    const Buffer& buffer = s.program().buffer(st.target.buffer);
    if (buffer.IsLocal()) return;
    const auto bytes_along = [&](VarId var) {
      return std::abs(StrideOf(s.program(), st.target, var).value_or(0)) *
             hlo::ByteWidth(buffer.type);
    };
    const int64_t bytes = bytes_along(loop.var);
    if (bytes == 0 || share * bytes >= line) return;
    const std::vector<const Loop*> loops = s.program().LoopsAbove(at);
    parts |=
        std::any_of(loops.begin() + static_cast<std::ptrdiff_t>(path.size()),
                    loops.end(), [&](const Loop* inner) {
                      return bytes_along(inner->var) >= bytes * loop.extent;
                    });
  });
  return parts;
}

// Parallelizes the outermost loops of the nest that allow it, if they have at
// least the work `least` each time.
void ParallelizeFrom(Scheduler& s, const Path& path, double least) {
  const Loop* const loop = s.program().At(path).loop();
  if (loop == nullptr || loop->mode != LoopMode::kSequential ||
      WorkOf(s.program(), path) < least) {
    return;
  }
  if (loop->extent >= s.machine().threads) {
    // A reordered nest has the other loop outermost, which parts no lines.
    if (PartsLines(s, path) && OnlyChildLoop(*loop) != nullptr &&
        !PartsLines(s, Child(path, 0))) {
      s.Try("reorder", path);
    }
    if (s.Try("parallelize", path)) return;
  }
  const Loop& outer = *s.program().At(path).loop();
  // Threads would be woken once per iteration.
  if (outer.extent > 1) least = std::max(least, kWorthThreadsInside);
  const size_t children = outer.body.size();
  for (size_t i = 0; i < children; ++i) {
    ParallelizeFrom(s, Child(path, static_cast<int32_t>(i)), least);
  }
}

}  // namespace

void VectorizeInnermost(Scheduler& scheduler, const Path& path) {
  InnermostVectorizer(scheduler, path).Run();
}

void ParallelizeNest(Scheduler& s, const Path& path) {
  if (s.machine().threads < 2) return;
  ParallelizeFrom(s, path, kWorthThreads);
}

}  // namespace hone::loops

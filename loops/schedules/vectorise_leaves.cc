#include "loops/schedules/vectorise_leaves.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

#include "loops/rewrite.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/peel_bounds.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// Independent partial sums, to hide an addition's latency of four cycles.
constexpr int64_t kPartialSums = 4;
constexpr int64_t kShortLoop = 8;
// Vectors that a leaf without sums takes at once: constants are loaded once for
// all of them, and one's latency passes with the others' work.
constexpr int64_t kVectorsAtOnce = 4;
// Iterations of statements for which waking threads pays.
constexpr double kWorthThreads = 32'768;
// The same where other work follows at once.
constexpr double kWorthThreadsInside = 8 * kWorthThreads;
// A block that is read along one side and written along the other is so long on
// the side that is read, and a vector on the other: rows a power of two apart
// fall into one set of the cache, which has about as many ways as vectors have
// lanes.
constexpr int64_t kBlock = 64;
// Sums over rows that are kept while the rows go by: a part of the first cache.
constexpr int64_t kSumsKept = 2048;

// What the accesses in a leaf scope say about one variable.
struct Direction {
  // Every store moves by one element, or stays.
  bool stores_fit = true;
  // Some reduction's target stays.
  bool sums = false;
  // Loads that move by one element, and that move otherwise.
  int fitting_loads = 0;
  int other_loads = 0;
};

Direction Along(const Program& program, const Scope& leaf, VarId var) {
  Direction direction;
  for (const Node& node : leaf.body) {
    const Statement& statement = *node.statement();
    VisitAccesses(statement, [&](const Access& access, bool is_target) {
      const std::optional<int64_t> stride = StrideOf(program, access, var);
      if (is_target) {
        direction.stores_fit &= stride == 0 || stride == 1;
        direction.sums |= stride == 0 && statement.combine.has_value();
      } else if (stride == 1) {
        ++direction.fitting_loads;
      } else if (stride != 0) {
        ++direction.other_loads;
      }
    });
  }
  return direction;
}

// Whether a statement of the leaf asks where it is.
bool HasRange(const Scope& leaf) {
  return absl::c_any_of(leaf.body, [](const Node& node) {
    return node.statement()->value->kind() == Expression::Kind::kWhere;
  });
}

// Lanes of the widest element that the scope touches.
int64_t LanesFor(const Scheduler& s, const Scope& leaf) {
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

class LeafVectoriser {
 public:
  LeafVectoriser(Scheduler& s, const Path& nest)
      : s_(s), nest_(nest), siblings_(Siblings()) {}

  void Run() {
    while (const std::optional<Path> leaf = NextLeaf()) {
      if (Turn(*leaf) || Merge(*leaf) || Block(*leaf)) continue;
      seen_.push_back(s_.program().At(*leaf).scope_ptr());
      Vectorise(*leaf);
    }
  }

 private:
  // In the nest or in what came off it.
  std::optional<Path> NextLeaf() const {
    const size_t parts = Siblings() - siblings_ + 1;
    for (size_t i = 0; i < parts; ++i) {
      Path root = nest_;
      root.back() += static_cast<int32_t>(i);
      for (const Path& leaf : SequentialLeaves(s_.program(), root)) {
        if (!absl::c_linear_search(seen_, s_.program().At(leaf).scope_ptr())) {
          return leaf;
        }
      }
    }
    return std::nullopt;
  }

  // Nodes in the body that the nest is in.
  size_t Siblings() const { return BodyAt(s_.program(), Parent(nest_)).size(); }

  const Scope* ScopeAt(const Path& path) const {
    return path.empty() || path.size() < nest_.size()
               ? nullptr
               : s_.program().At(path).scope();
  }

  // Makes the scope around the leaf the innermost one where its accesses are
  // contiguous and the leaf's are not.
  bool Turn(const Path& leaf) {
    const Path above = Parent(leaf);
    const Scope* const parent = ScopeAt(above);
    if (parent == nullptr || !turned_.insert(parent->var).second) return false;
    const Scope& scope = *ScopeAt(leaf);
    const Direction now = Along(s_.program(), scope, scope.var);
    const Direction then = Along(s_.program(), scope, parent->var);
    const bool better = (then.stores_fit && !now.stores_fit) ||
                        (then.stores_fit && !then.sums && now.sums &&
                         then.other_loads < now.other_loads);
    if (!better) return false;
    const Scheduler::Mark mark = s_.MarkHere();
    Path around = above;
    if (parent->body.size() > 1) {
      // What gives sums their first value stays behind.
      if (leaf.back() + 1 != static_cast<int32_t>(parent->body.size()) ||
          !s_.Do("fission", above, {leaf.back()})) {
        return false;
      }
      ++around.back();
    }
    if (!s_.Do("interchange", around)) {
      s_.Return(mark);
      return false;
    }
    if (now.sums) KeepSums(around);
    return true;
  }

  // Sums over rows, the rows' scope at `rows`: as many at once as stay in the
  // first cache, and as threads can share.
  void KeepSums(const Path& rows) {
    const Path sums = Child(rows, 0);
    const int64_t share = (ScopeAt(sums)->extent + s_.machine().threads - 1) /
                          s_.machine().threads;
    const int64_t block = std::min(kSumsKept, (share + 15) / 16 * 16);
    if (block >= ScopeAt(sums)->extent) return;
    const Scheduler::Mark mark = s_.MarkHere();
    if (!s_.Do("split", sums, {block}) || !s_.Do("interchange", rows)) {
      s_.Return(mark);
      return;
    }
    PeelBounds(s_, rows);
  }

  // Cuts a leaf whose loads are contiguous along the scope around it, as in
  // transposes, into blocks of both.
  bool Block(const Path& leaf) {
    const Path above = Parent(leaf);
    const Scope* const parent = ScopeAt(above);
    if (parent == nullptr || OnlyChildScope(*parent) == nullptr) return false;
    const Scope& scope = *ScopeAt(leaf);
    const Direction now = Along(s_.program(), scope, scope.var);
    const Direction then = Along(s_.program(), scope, parent->var);
    if (!now.stores_fit || now.sums || now.other_loads == 0 ||
        then.fitting_loads == 0) {
      return false;
    }
    const int64_t block = s_.Choose(Choice::kBlock, kBlock);
    if (parent->extent <= block) return false;
    const int64_t lanes = LanesFor(s_, scope);
    if (scope.extent <= lanes || !s_.Do("tile", above, {block, lanes})) {
      return false;
    }
    PeelBounds(s_, above);
    return true;
  }

  // Merges a leaf that is short for vectors with the scope around it.
  bool Merge(const Path& leaf) {
    const Scope* const parent = ScopeAt(Parent(leaf));
    const Scope& scope = *ScopeAt(leaf);
    const int64_t lanes = LanesFor(s_, scope);
    if (parent == nullptr || parent->body.size() != 1 ||
        (scope.extent % lanes == 0 || scope.extent > 8 * lanes)) {
      return false;
    }
    return s_.Do("collapse", Parent(leaf));
  }

  void Vectorise(const Path& leaf) {
    const Scope scope = *ScopeAt(leaf);
    const Direction direction = Along(s_.program(), scope, scope.var);
    const int64_t lanes = LanesFor(s_, scope);
    if (!direction.stores_fit || scope.bound.has_value()) return;
    if (scope.extent <= lanes) {
      s_.Do("vectorise", leaf);
      return;
    }
    int64_t unroll = direction.sums
                         ? s_.Choose(Choice::kPartialSums, kPartialSums)
                         : s_.Choose(Choice::kVectorsAtOnce, kVectorsAtOnce);
    if (scope.extent < 2 * unroll * lanes) unroll = 1;
    const int64_t step = lanes * unroll;
    const Scheduler::Mark mark = s_.MarkHere();
    if (!s_.Do("split", leaf, {step})) return;
    if (scope.extent % step != 0) {
      if (!s_.Do("peel", leaf, {scope.extent / step})) {
        s_.Return(mark);
        return;
      }
    }
    Path inner = Child(leaf, 0);
    if (unroll > 1 && s_.Do("split", inner, {lanes})) {
      s_.Do("unroll", inner);
      inner = Child(inner, 0);
    }
    if (!s_.Do("vectorise", inner)) {
      s_.Return(mark);
      return;
    }
    // A short loop of partial sums, written out, has as many of them.
    // One of copies with a margin asks once where it is.
    if ((direction.sums || HasRange(scope)) && unroll == 1 &&
        scope.extent / step <= kShortLoop) {
      s_.Do("unroll", leaf);
    }
  }

  Scheduler& s_;
  const Path nest_;
  // Nodes there were beside the nest; those that come off it follow it.
  const size_t siblings_;
  // Leaves that are done, or cannot be done.
  std::vector<std::shared_ptr<const Scope>> seen_;
  absl::flat_hash_set<VarId> turned_;
};

// The outermost scopes of the nest that threads can share, where they have at
// least `least` iterations of statements to do at a time.
void ShareOutFrom(Scheduler& s, const Path& path, double least) {
  const Scope* const scope = s.program().At(path).scope();
  if (scope == nullptr || scope->mode != ScopeMode::kSequential ||
      Iterations(s.program().At(path)) < least) {
    return;
  }
  if (scope->extent >= s.machine().threads && s.Do("parallelise", path)) return;
  // Threads would be woken in every iteration.
  if (scope->extent > 1) least = std::max(least, kWorthThreadsInside);
  const size_t children = scope->body.size();
  for (size_t i = 0; i < children; ++i) {
    ShareOutFrom(s, Child(path, static_cast<int32_t>(i)), least);
  }
}

}  // namespace

void VectoriseLeaves(Scheduler& scheduler, const Path& path) {
  LeafVectoriser(scheduler, path).Run();
}

void ShareOut(Scheduler& s, const Path& path) {
  if (s.machine().threads < 2) return;
  ShareOutFrom(s, path, kWorthThreads);
}

}  // namespace hone::loops

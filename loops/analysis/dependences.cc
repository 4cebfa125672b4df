#include "loops/analysis/dependences.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "loops/ir/rewrite.h"

namespace hone::loops {
namespace {

// Collects the accesses of statements.
class Collector {
 public:
  void Add(const Path& path, const Statement& statement) {
    path_ = &path;
    for (const Index& index : statement.target.indices) {
      if (index.offset != nullptr) AddLoads(*index.offset);
    }
    if (statement.predicate != nullptr) AddLoads(*statement.predicate);
    AddLoads(*statement.value);
    sites_.push_back(
        {path, statement.target, /*is_write=*/true, statement.combine, {}});
  }

  std::vector<AccessSite> Take() { return std::move(sites_); }

 private:
  void AddLoads(const Expression& e) {
    if (e.kind() == Expression::Kind::kLoad) {
      for (const Index& index : e.access().indices) {
        if (index.offset != nullptr) AddLoads(*index.offset);
      }
      sites_.push_back({*path_, e.access(), false, std::nullopt, ranges_});
    }
    if (e.kind() == Expression::Kind::kWhere) {
      const size_t outer = ranges_.size();
      ranges_.insert(ranges_.end(), e.ranges().begin(), e.ranges().end());
      AddLoads(*e.operands()[0]);
      ranges_.resize(outer);
      // The negation of a range is not affine.
      AddLoads(*e.operands()[1]);
      return;
    }
    for (const ExpressionPtr& operand : e.operands()) AddLoads(*operand);
  }

  const Path* path_ = nullptr;
  std::vector<Range> ranges_;
  std::vector<AccessSite> sites_;
};

}  // namespace

std::vector<AccessSite> CollectAccesses(const Program& program,
                                        const Path& path) {
  Collector collector;
  VisitStatements(program, path,
                  [&](const Path& at, const Statement& statement) {
                    collector.Add(at, statement);
                  });
  return collector.Take();
}

size_t CommonLoops(const AccessSite& a, const AccessSite& b) {
  const size_t n = std::min(a.path.size(), b.path.size()) - 1;
  size_t common = 0;
  while (common < n && a.path[common] == b.path[common]) ++common;
  return common;
}

bool Commute(const AccessSite& a, const AccessSite& b) {
  if (!a.is_write && !b.is_write) return true;
  return a.combine.has_value() && a.combine == b.combine;
}

bool CarriesDependence(const Program& program, const Path& path,
                       const CarryOptions& options) {
  const std::vector<AccessSite> sites = CollectAccesses(program, path);
  const size_t depth = path.size() - 1;
  absl::InlinedVector<Direction, 12> directions;
  const auto may_conflict = [&](const AccessSite& source,
                                const AccessSite& target, Direction direction) {
    directions.assign(CommonLoops(source, target), Direction::kAny);
    std::fill_n(directions.begin(), depth, Direction::kSame);
    directions[depth] = direction;
    return MayConflict(program, source, target, directions);
  };
  for (size_t i = 0; i < sites.size(); ++i) {
    const AccessSite& a = sites[i];
    for (size_t j = i; j < sites.size(); ++j) {
      const AccessSite& b = sites[j];
      if (a.access.buffer != b.access.buffer) continue;
      if (!a.is_write && !b.is_write) continue;
      if (options.reorder_reductions && Commute(a, b)) continue;
      if (may_conflict(a, b, Direction::kEarlier)) return true;
      // A site with itself: the roles are symmetric.
      if (i != j && may_conflict(a, b, Direction::kLater)) return true;
    }
  }
  return false;
}

}  // namespace hone::loops

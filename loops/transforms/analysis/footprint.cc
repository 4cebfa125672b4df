#include "loops/transforms/analysis/footprint.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "loops/ir/rewrite.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

const Loop* LoopOf(VarId var, absl::Span<const Loop* const> loops) {
  for (const Loop* loop : loops) {
    if (loop->var == var) return loop;
  }
  return nullptr;
}

int64_t Highest(const Affine& value, absl::Span<const Loop* const> loops) {
  int64_t highest = RangeOf(value, [&](VarId var) -> Interval {
                      const Loop* loop = LoopOf(var, loops);
                      return {0, loop == nullptr ? 0 : loop->extent - 1};
                    }).hi;
  // The last iteration before a bound may be lower; what the bound depends on
  // then counts with the rest.
  for (const Affine::Term& term : value.terms()) {
    const Loop* loop = LoopOf(term.var, loops);
    if (loop == nullptr || !loop->bound.has_value() || term.coefficient < 0) {
      continue;
    }
    highest = std::min(
        highest,
        Highest(value.Substitute(term.var, *loop->bound - Affine(1)), loops));
  }
  return highest;
}

// Returns the digits of an index in an order independent of loop nesting.
std::vector<Digit> Sorted(std::vector<Digit> digits) {
  std::stable_sort(digits.begin(), digits.end(),
                   [](const Digit& a, const Digit& b) {
                     if (a.coefficient != b.coefficient) {
                       return a.coefficient > b.coefficient;
                     }
                     return a.loop->extent > b.loop->extent;
                   });
  return digits;
}

// A correspondence between the loops of two sites.
class Matching {
 public:
  bool Add(const SeenIndex& from, const SeenIndex& to) {
    if (from.fixed != to.fixed || from.digits.size() != to.digits.size()) {
      return false;
    }
    const std::vector<Digit> a = Sorted(from.digits);
    const std::vector<Digit> b = Sorted(to.digits);
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].coefficient != b[i].coefficient ||
          a[i].loop->extent != b[i].loop->extent) {
        return false;
      }
      const auto [it, added] =
          pairs_.try_emplace(a[i].loop->var, std::pair(a[i].loop, b[i].loop));
      if (!added && it->second.second != b[i].loop) return false;
      // Neither may two be the same one: t[i,j] is more than t[i,i].
      if (added && !taken_.insert(b[i].loop).second) return false;
    }
    return true;
  }

  // `inner` are all loops of the first site that have no meaning outside.
  bool BoundsAgree(absl::Span<const Loop* const> inner) const {
    for (const auto& [var, pair] : pairs_) {
      const auto& [from, to] = pair;
      if (from->bound.has_value() != to->bound.has_value()) return false;
      if (!from->bound.has_value()) continue;
      Affine renamed = from->bound->constant();
      for (const Affine::Term& term : from->bound->terms()) {
        const auto it = pairs_.find(term.var);
        if (it == pairs_.end() && LoopOf(term.var, inner) != nullptr) {
          return false;
        }
        renamed +=
            Affine::Var(it == pairs_.end() ? term.var : it->second.second->var,
                        term.coefficient);
      }
      if (renamed != *to->bound) return false;
    }
    return true;
  }

 private:
  absl::flat_hash_map<VarId, std::pair<const Loop*, const Loop*>> pairs_;
  absl::flat_hash_set<const Loop*> taken_;
};

bool SameTerms(const Affine& a, const Affine& b) {
  return (a - b).IsConstant();
}

}  // namespace

Interval RangeOf(const Affine& value, absl::Span<const Loop* const> loops) {
  return {-Highest(value * -1, loops), Highest(value, loops)};
}

bool RunsAtLeastOnce(const Loop& loop, absl::Span<const Loop* const> loops) {
  return loop.extent > 0 &&
         (!loop.bound.has_value() || RangeOf(*loop.bound, loops).lo > 0);
}

SeenIndex SeenFrom(const Affine& index, absl::Span<const Loop* const> below) {
  SeenIndex seen;
  seen.fixed = index;
  for (const Loop* loop : below) {
    const int64_t coefficient = index.coefficient(loop->var);
    if (coefficient == 0) continue;
    seen.fixed -= Affine::Var(loop->var, coefficient);
    seen.digits.push_back({loop, coefficient});
  }
  return seen;
}

IndexForm IndexFormOf(const Program& program,
                      absl::Span<const AccessSite> sites) {
  for (const AccessSite& site : sites) {
    if (site.access.indices.size() !=
        program.buffer(site.access.buffer).dimensions.size()) {
      return IndexForm::kFlat;
    }
  }
  return IndexForm::kDimensions;
}

hlo::DimensionVector DimensionsOf(const Buffer& buffer, IndexForm form) {
  if (form == IndexForm::kDimensions) return buffer.dimensions;
  return {buffer.allocated_elements()};
}

std::optional<std::vector<Affine>> IndicesOf(const Program& program,
                                             const Access& access,
                                             IndexForm form) {
  const Buffer& buffer = program.buffer(access.buffer);
  std::vector<Affine> indices;
  Affine flat;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    if (access.indices[d].offset != nullptr) return std::nullopt;
    indices.push_back(access.indices[d].affine);
    if (access.indices.size() == buffer.dimensions.size()) {
      flat += access.indices[d].affine * buffer.strides[d];
    } else {
      flat += access.indices[d].affine;
    }
  }
  if (form == IndexForm::kFlat) return std::vector<Affine>{flat};
  return indices;
}

std::vector<BufferId> BuffersIn(const Program& program, const Path& path) {
  std::vector<BufferId> buffers;
  VisitStatements(program, path, [&](const Path&, const Statement& statement) {
    VisitAccesses(statement, [&](const Access& access, bool) {
      buffers.push_back(access.buffer);
    });
  });
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  return buffers;
}

std::vector<AccessSite> SitesOf(const Program& program, const Path& path,
                                BufferId buffer) {
  std::vector<AccessSite> sites = CollectAccesses(program, path);
  std::erase_if(sites, [buffer](const AccessSite& site) {
    return site.access.buffer != buffer;
  });
  return sites;
}

std::vector<const Loop*> LoopsBetween(const Program& program, const Path& path,
                                      const AccessSite& site) {
  std::vector<const Loop*> loops = program.LoopsAbove(site.path);
  loops.erase(loops.begin(),
              loops.begin() + static_cast<ptrdiff_t>(path.size()));
  return loops;
}

hlo::DimensionVector Box::CompactExtents() const {
  hlo::DimensionVector compact;
  for (int64_t extent : extents) {
    if (extent != 1) compact.push_back(extent);
  }
  return compact;
}

Access Box::Localize(BufferId local, absl::Span<const Affine> indices) const {
  Access access;
  access.buffer = local;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    const Affine from_base = indices[d] - base[d];
    Affine index(from_base.constant() / steps[d]);
    for (const Affine::Term& term : from_base.terms()) {
      index += Affine::Var(term.var, term.coefficient / steps[d]);
    }
    access.indices.emplace_back(index);
  }
  return access;
}

absl::StatusOr<Box> BoxOf(const Program& program, const Path& path,
                          absl::Span<const AccessSite> sites, bool clip) {
  Box box;
  box.form = IndexFormOf(program, sites);
  const hlo::DimensionVector dimensions =
      DimensionsOf(program.buffer(sites.front().access.buffer), box.form);
  std::vector<Interval> spans(dimensions.size());
  for (size_t s = 0; s < sites.size(); ++s) {
    const auto indices = IndicesOf(program, sites[s].access, box.form);
    if (!indices.has_value()) {
      return absl::InvalidArgumentError(
          "an index of the buffer depends on data");
    }
    const std::vector<const Loop*> below =
        LoopsBetween(program, path, sites[s]);
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const SeenIndex seen = SeenFrom((*indices)[d], below);
      if (s == 0) {
        box.base.push_back(seen.fixed - Affine(seen.fixed.constant()));
      } else if (!SameTerms(seen.fixed, box.base[d])) {
        return absl::InvalidArgumentError(absl::StrCat(
            "accesses differ in what outer loops contribute to dimension ", d));
      }
      Interval span = {seen.fixed.constant(), seen.fixed.constant()};
      for (const Digit& digit : seen.digits) {
        span += digit.coefficient * Interval{0, digit.loop->extent - 1};
      }
      spans[d].lo = s == 0 ? span.lo : std::min(spans[d].lo, span.lo);
      spans[d].hi = s == 0 ? span.hi : std::max(spans[d].hi, span.hi);
    }
  }
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (clip && box.base[d].IsConstant()) {
      spans[d].lo = std::max<int64_t>(spans[d].lo, 0);
      spans[d].hi = std::min(spans[d].hi, dimensions[d] - 1);
    }
    if (spans[d].hi < spans[d].lo) {
      return absl::InvalidArgumentError("the buffer is never accessed there");
    }
    // Not more than there is: then the whole dimension is as good.
    if (clip && spans[d].hi - spans[d].lo + 1 >= dimensions[d]) {
      box.base[d] *= 0;
      spans[d] = {0, dimensions[d] - 1};
    }
    box.base[d] += Affine(spans[d].lo);
    box.extents.push_back(spans[d].hi - spans[d].lo + 1);
    box.steps.push_back(1);
  }
  return box;
}

void LeaveGapsOut(const Program& program, const Path& path,
                  absl::Span<const AccessSite> sites, Box& box) {
  for (size_t d = 0; d < box.extents.size(); ++d) {
    int64_t step = 0;
    for (const AccessSite& site : sites) {
      const std::vector<Affine> indices =
          *IndicesOf(program, site.access, box.form);
      const SeenIndex seen =
          SeenFrom(indices[d], LoopsBetween(program, path, site));
      const Affine offset = seen.fixed - box.base[d];
      step = offset.IsConstant() ? std::gcd(step, offset.constant()) : 1;
      for (const Digit& digit : seen.digits) {
        step = std::gcd(step, digit.coefficient);
      }
      if (step == 1) break;
    }
    if (step <= 1) continue;
    box.steps[d] = step;
    box.extents[d] = (box.extents[d] - 1) / step + 1;
  }
}

bool TouchSame(const Program& program, const Path& path, const AccessSite& a,
               const AccessSite& b) {
  const AccessSite sites[] = {a, b};
  const IndexForm form = IndexFormOf(program, sites);
  const auto a_indices = IndicesOf(program, a.access, form);
  const auto b_indices = IndicesOf(program, b.access, form);
  if (!a_indices.has_value() || !b_indices.has_value()) return false;
  const std::vector<const Loop*> a_below = LoopsBetween(program, path, a);
  const std::vector<const Loop*> b_below = LoopsBetween(program, path, b);
  Matching matching;
  for (size_t d = 0; d < a_indices->size(); ++d) {
    if (!matching.Add(SeenFrom((*a_indices)[d], a_below),
                      SeenFrom((*b_indices)[d], b_below))) {
      return false;
    }
  }
  return matching.BoundsAgree(a_below);
}

bool TouchesEachOnce(const Program& program, const AccessSite& site,
                     absl::Span<const Loop* const> below) {
  const auto indices =
      IndicesOf(program, site.access, IndexFormOf(program, {&site, 1}));
  if (!indices.has_value()) return false;
  for (const Affine& index : *indices) {
    std::vector<Digit> digits = SeenFrom(index, below).digits;
    std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
      return std::abs(a.coefficient) < std::abs(b.coefficient);
    });
    // Each digit steps past all that those before it reach.
    int64_t reach = 0;
    for (const Digit& digit : digits) {
      const int64_t step = std::abs(digit.coefficient);
      if (step <= reach) return false;
      reach += step * (digit.loop->extent - 1);
    }
  }
  return true;
}

absl::StatusOr<Node> SweepOf(Program& program, const Path& path,
                             const AccessSite& site,
                             absl::FunctionRef<Statement(const Access&)> leaf) {
  const std::vector<const Loop*> below = LoopsBetween(program, path, site);
  std::vector<Loop> copies;
  absl::flat_hash_map<VarId, VarId> names;
  const auto is_used = [&](VarId var) {
    return std::any_of(
        site.access.indices.begin(), site.access.indices.end(),
        [var](const Index& index) { return index.affine.Uses(var); });
  };
  for (const Loop* loop : below) {
    if (!is_used(loop->var)) continue;
    Loop copy;
    copy.var = program.NewVar();
    copy.extent = loop->extent;
    if (loop->bound.has_value()) {
      for (const Affine::Term& term : loop->bound->terms()) {
        if (LoopOf(term.var, below) != nullptr && !names.contains(term.var)) {
          return absl::InvalidArgumentError(
              "a bound depends on a loop that the index does not use");
        }
      }
      copy.bound = Renamed(*loop->bound, names);
    }
    copy.mode =
        loop->mode == LoopMode::kParallel ? LoopMode::kSequential : loop->mode;
    names[loop->var] = copy.var;
    copies.push_back(std::move(copy));
  }
  Node node = MakeNode(leaf(MapAffines(site.access, [&](const Affine& affine) {
    return Renamed(affine, names);
  })));
  while (!copies.empty()) {
    copies.back().body.push_back(std::move(node));
    node = MakeNode(std::move(copies.back()));
    copies.pop_back();
  }
  return node;
}

}  // namespace hone::loops

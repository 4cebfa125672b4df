#include "loops/transforms/memory/staged_copy.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// Dimension, coefficient, ordinal.
using DigitKey = std::tuple<size_t, int64_t, size_t>;

bool HasVar(absl::Span<const Loop* const> loops, VarId var) {
  return std::any_of(loops.begin(), loops.end(),
                     [var](const Loop* loop) { return loop->var == var; });
}

// Adds the digits of one site's indices to `layout`, in the order of its
// loops; those that are there grow.
void AddDigits(absl::Span<const SeenIndex> indices,
               absl::Span<const Loop* const> below, CopyLayout& layout) {
  std::map<DigitKey, const Loop*> digits;
  for (size_t d = 0; d < indices.size(); ++d) {
    // Ordinals go by variable, as in an affine expression.
    std::vector<Digit> by_var = indices[d].digits;
    std::sort(by_var.begin(), by_var.end(), [](const Digit& a, const Digit& b) {
      return a.loop->var < b.loop->var;
    });
    std::map<int64_t, size_t> ordinals;
    for (const Digit& digit : by_var) {
      digits[{d, digit.coefficient, ordinals[digit.coefficient]++}] =
          digit.loop;
    }
  }
  for (const Loop* loop : below) {
    for (const auto& [key, owner] : digits) {
      if (owner != loop) continue;
      const auto& [d, coefficient, ordinal] = key;
      auto at = std::find_if(layout.dimensions.begin(), layout.dimensions.end(),
                             [&, d = d, c = coefficient, o = ordinal](
                                 const CopyLayout::Dimension& dimension) {
                               return dimension.dimension == d &&
                                      dimension.coefficient == c &&
                                      dimension.ordinal == o;
                             });
      if (at == layout.dimensions.end()) {
        layout.dimensions.push_back({d, coefficient, ordinal, loop->extent});
      } else {
        at->extent = std::max(at->extent, loop->extent);
      }
    }
  }
}

// Makes room for indices that are up to `slack` more than the least one.
void AddSlack(size_t dimension, int64_t slack, CopyLayout& layout) {
  if (slack == 0) return;
  for (CopyLayout::Dimension& digit : layout.dimensions) {
    if (digit.dimension == dimension && digit.coefficient == 1 &&
        digit.ordinal == 0) {
      digit.extent += slack;
      return;
    }
  }
  layout.dimensions.push_back({dimension, 1, 0, slack + 1});
}

// Returns the place in the copy of the element with these indices.
Access LocalAccess(const CopyLayout& layout, BufferId local,
                   absl::Span<const Affine> indices,
                   absl::Span<const Loop* const> outer) {
  // The part of each index that no dimension of the copy expresses yet.
  std::vector<Affine> rest;
  rest.reserve(indices.size());
  for (size_t d = 0; d < indices.size(); ++d) {
    rest.push_back(indices[d] - layout.base[d]);
  }
  std::map<DigitKey, VarId> digits;
  for (size_t d = 0; d < indices.size(); ++d) {
    std::map<int64_t, size_t> ordinals;
    for (const Affine::Term& term : indices[d].terms()) {
      if (HasVar(outer, term.var)) continue;
      digits[{d, term.coefficient, ordinals[term.coefficient]++}] = term.var;
    }
  }
  Access access;
  access.buffer = local;
  for (const CopyLayout::Dimension& digit : layout.dimensions) {
    const auto it =
        digits.find({digit.dimension, digit.coefficient, digit.ordinal});
    Affine index;
    if (it != digits.end()) index = Affine::Var(it->second);
    rest[digit.dimension] -= index * digit.coefficient;
    access.indices.emplace_back(std::move(index));
  }
  // Differences of constants go to the first dimension of coefficient 1; so
  // does everything where there is one dimension for each of the buffer's.
  for (size_t k = 0; k < layout.dimensions.size(); ++k) {
    const CopyLayout::Dimension& digit = layout.dimensions[k];
    if (digit.coefficient != 1 || digit.ordinal != 0) continue;
    access.indices[k].affine += rest[digit.dimension];
    rest[digit.dimension] *= 0;
  }
  return access;
}

}  // namespace

absl::StatusOr<CopyLayout> LayoutByDimension(const Program& program,
                                             const Path& path,
                                             absl::Span<const AccessSite> sites,
                                             bool clip) {
  HONE_ASSIGN_OR_RETURN(const Box box, BoxOf(program, path, sites, clip));
  CopyLayout layout;
  layout.form = box.form;
  layout.base = box.base;
  for (size_t d = 0; d < box.extents.size(); ++d) {
    if (box.extents[d] != 1) {
      layout.dimensions.push_back({d, 1, 0, box.extents[d]});
    }
  }
  return layout;
}

absl::StatusOr<CopyLayout> LayoutByLoop(const Program& program,
                                        const Path& path,
                                        absl::Span<const AccessSite> sites) {
  CopyLayout layout;
  layout.form = IndexFormOf(program, sites);
  std::vector<int64_t> highest;
  for (const AccessSite& site : sites) {
    const auto indices = IndicesOf(program, site.access, layout.form);
    if (!indices.has_value()) {
      return absl::InvalidArgumentError(
          "an index of the buffer depends on data");
    }
    const std::vector<const Loop*> below = LoopsBetween(program, path, site);
    std::vector<SeenIndex> seen;
    for (size_t d = 0; d < indices->size(); ++d) {
      seen.push_back(SeenFrom((*indices)[d], below));
      const Affine& fixed = seen.back().fixed;
      if (layout.base.size() == d) {
        layout.base.push_back(fixed);
        highest.push_back(fixed.constant());
        continue;
      }
      const Affine difference = fixed - layout.base[d];
      if (!difference.IsConstant()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "accesses differ in what outer loops contribute to dimension ", d));
      }
      if (difference.constant() < 0) layout.base[d] = fixed;
      highest[d] = std::max(highest[d], fixed.constant());
    }
    AddDigits(seen, below, layout);
  }
  for (size_t d = 0; d < highest.size(); ++d) {
    AddSlack(d, highest[d] - layout.base[d].constant(), layout);
  }
  std::erase_if(layout.dimensions, [](const CopyLayout::Dimension& digit) {
    return digit.extent == 1;
  });
  return layout;
}

Node UseCopy(const Program& program, const Node& node,
             absl::FunctionRef<bool(const Access&)> reads_copy, BufferId local,
             const CopyLayout& layout, absl::Span<const Loop* const> outer) {
  return MapAccesses(node, [&](const Access& access) {
    if (!reads_copy(access)) return access;
    return LocalAccess(layout, local, *IndicesOf(program, access, layout.form),
                       outer);
  });
}

BufferId AddCopy(Program& program, const Path& next, BufferId buffer,
                 const CopyLayout& layout, const ExpressionPtr& fill) {
  const Path path = Parent(next);
  const Buffer original = program.buffer(buffer);
  hlo::DimensionVector extents;
  for (const CopyLayout::Dimension& digit : layout.dimensions) {
    extents.push_back(digit.extent);
  }
  const BufferId local =
      DeclareLocal(program, path, absl::StrCat(original.name, "_copy"),
                   original.type, extents);

  std::vector<Loop> copy_loops(layout.dimensions.size());
  std::vector<const Loop*> loops = LoopsAt(program, path);
  std::vector<Affine> from = layout.base;
  Statement copy;
  copy.target.buffer = local;
  for (size_t k = 0; k < copy_loops.size(); ++k) {
    const CopyLayout::Dimension& digit = layout.dimensions[k];
    copy_loops[k].var = program.NewVar();
    copy_loops[k].extent = digit.extent;
    loops.push_back(&copy_loops[k]);
    from[digit.dimension] += Affine::Var(copy_loops[k].var, digit.coefficient);
    copy.target.indices.emplace_back(Affine::Var(copy_loops[k].var));
  }
  const hlo::DimensionVector dimensions = DimensionsOf(original, layout.form);
  Access source;
  source.buffer = buffer;
  std::vector<Range> guards;
  for (size_t d = 0; d < from.size(); ++d) {
    const Interval interval = RangeOf(from[d], loops);
    if (interval.lo < 0 || interval.hi >= dimensions[d]) {
      guards.push_back({from[d], 0, dimensions[d]});
    }
    source.indices.emplace_back(from[d]);
  }
  copy.value = Expression::Load(original.type, std::move(source));
  if (!guards.empty()) {
    copy.value = Expression::Where(std::move(guards), copy.value, fill);
  }
  Node nest = MakeNode(std::move(copy));
  for (size_t k = copy_loops.size(); k-- > 0;) {
    copy_loops[k].body.push_back(std::move(nest));
    nest = MakeNode(std::move(copy_loops[k]));
  }
  std::vector<Node> body = BodyAt(program, path);
  body.insert(body.begin() + next.back(), std::move(nest));
  SetBody(program, path, std::move(body));
  return local;
}

}  // namespace hone::loops

#include "loops/lowering/kernel/indexing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/ir/shape.h"
#include "loops/analysis/interval.h"
#include "loops/ir/program.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

constexpr ElementType kOffsetType = ElementType::kS64;

int64_t FloorMod(int64_t a, int64_t b) { return ((a % b) + b) % b; }

// A digit: coefficient · part, where part is 0 … size-1.
struct Term {
  int64_t coefficient = 1;
  int64_t size = 1;
  Affine part;
  // Set if part is a single variable.
  std::optional<VarId> var;
};

// Decomposes constant + Σ terms into mixed-radix digits below `sizes`,
// outermost first. On failure, sets `split` if a split would help.
std::optional<Indices> Digits(std::vector<Term> terms, int64_t constant,
                              absl::Span<const int64_t> sizes,
                              std::optional<VarSplit>& split) {
  Indices digits(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    const int64_t size = sizes[d];
    std::vector<Term> outer;
    Affine digit;
    Interval reach;
    const Term* wide = nullptr;
    for (const Term& term : terms) {
      if (d > 0 && term.coefficient % size == 0) {
        outer.push_back(term);
        outer.back().coefficient /= size;
        continue;
      }
      digit += term.part * term.coefficient;
      reach += term.coefficient * Interval{0, term.size - 1};
      // An inner part of one iteration would split nothing.
      if (term.coefficient > 0 && term.coefficient < size &&
          size % term.coefficient == 0 && size / term.coefficient < term.size &&
          term.size % (size / term.coefficient) == 0 && term.var.has_value()) {
        wide = &term;
      }
    }
    // The digit takes the part of the constant that brings its least value into
    // range.
    int64_t rest = constant;
    if (d > 0) rest = FloorMod(reach.lo + constant, size) - reach.lo;
    if (reach.lo + rest < 0 || reach.hi + rest >= size) {
      if (wide != nullptr) {
        split = VarSplit{*wide->var, size / wide->coefficient};
      }
      return std::nullopt;
    }
    digit += rest;
    digits[d] = std::move(digit);
    if (d > 0) constant = (constant - rest) / size;
    terms = std::move(outer);
  }
  return digits;
}

// Reindex for dimensions other than 1 that do not factor into independent
// groups.
std::optional<Indices> ReindexBlock(absl::Span<const int64_t> from,
                                    absl::Span<const int64_t> to,
                                    absl::Span<const Index> indices,
                                    ExtentFn extent,
                                    std::optional<VarSplit>& split) {
  if (from.size() == 1 && to.size() == 1) return Indices{indices[0]};
  if (to.size() == 1) {
    return Indices{Flatten(from, Indices(indices.begin(), indices.end()))};
  }
  for (const Index& index : indices) {
    if (index.offset != nullptr) return std::nullopt;
  }
  // First tries each index as a whole, which is known to be in bounds; then
  // individual variables.
  const hlo::DimensionVector strides = DenseStrides(from);
  std::vector<Term> whole;
  Affine number;
  for (size_t i = 0; i < from.size(); ++i) {
    whole.push_back({strides[i], from[i], indices[i].affine, std::nullopt});
    number += indices[i].affine * strides[i];
  }
  std::optional<VarSplit> none;
  auto digits = Digits(std::move(whole), 0, to, none);
  if (digits.has_value()) return digits;
  std::vector<Term> terms;
  for (const Affine::Term& term : number.terms()) {
    terms.push_back(
        {term.coefficient, extent(term.var), Affine::Var(term.var), term.var});
  }
  return Digits(std::move(terms), number.constant(), to, split);
}

}  // namespace

Index Scaled(const Index& index, int64_t factor, int64_t addend) {
  Index result(index.affine * factor + addend, index.offset);
  if (index.offset != nullptr && factor != 1) {
    result.offset = Expression::Apply(
        Opcode::kMultiply, kOffsetType,
        {index.offset, Expression::ConstantInt(kOffsetType, factor)});
  }
  return result;
}

Index Sum(const Index& a, const Index& b) {
  Index result(a.affine + b.affine, a.offset);
  if (a.offset == nullptr) {
    result.offset = b.offset;
  } else if (b.offset != nullptr) {
    result.offset =
        Expression::Apply(Opcode::kAdd, kOffsetType, {a.offset, b.offset});
  }
  return result;
}

ExpressionPtr AsExpression(const Index& index) {
  ExpressionPtr affine =
      index.affine.IsConstant()
          ? Expression::ConstantInt(kOffsetType, index.affine.constant())
          : Expression::OfIndex(kOffsetType, index.affine);
  if (index.offset == nullptr) return affine;
  return Expression::Apply(Opcode::kAdd, kOffsetType,
                           {std::move(affine), index.offset});
}

Index Flatten(absl::Span<const int64_t> dimensions, const Indices& indices) {
  const hlo::DimensionVector strides = DenseStrides(dimensions);
  Index number;
  for (size_t i = 0; i < indices.size(); ++i) {
    number = Sum(number, Scaled(indices[i], strides[i], 0));
  }
  return number;
}

std::optional<Indices> Reindex(absl::Span<const int64_t> from,
                               absl::Span<const int64_t> to,
                               const Indices& indices, ExtentFn extent,
                               std::optional<VarSplit>& split) {
  Indices result(to.size());
  // An empty array has no elements.
  if (std::find(from.begin(), from.end(), 0) != from.end()) return result;
  size_t i = 0;
  size_t j = 0;
  while (true) {
    while (i < from.size() && from[i] == 1) ++i;
    while (j < to.size() && to[j] == 1) ++j;
    if (i == from.size() || j == to.size()) return result;
    // The shortest runs of dimensions with equal numbers of elements on both
    // sides.
    hlo::DimensionVector from_block = {from[i]};
    hlo::DimensionVector to_block = {to[j]};
    std::vector<Index> block_indices = {indices[i]};
    std::vector<size_t> places = {j};
    int64_t from_size = from[i++];
    int64_t to_size = to[j++];
    while (from_size != to_size) {
      if (from_size < to_size) {
        from_size *= from[i];
        if (from[i] != 1) {
          from_block.push_back(from[i]);
          block_indices.push_back(indices[i]);
        }
        ++i;
      } else {
        to_size *= to[j];
        if (to[j] != 1) {
          to_block.push_back(to[j]);
          places.push_back(j);
        }
        ++j;
      }
    }
    const auto block =
        ReindexBlock(from_block, to_block, block_indices, extent, split);
    if (!block.has_value()) return std::nullopt;
    for (size_t k = 0; k < places.size(); ++k) result[places[k]] = (*block)[k];
  }
}

}  // namespace hone::loops

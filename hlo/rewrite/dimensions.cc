#include "hlo/rewrite/dimensions.h"

#include <algorithm>

namespace hone::hlo {

DimensionVector IdentityPermutation(int64_t size) {
  DimensionVector permutation;
  for (int64_t i = 0; i < size; ++i) permutation.push_back(i);
  return permutation;
}

bool IsIdentityPermutation(absl::Span<const int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

DimensionVector InversePermutation(absl::Span<const int64_t> permutation) {
  DimensionVector inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

std::optional<DimensionVector> UnmodifiedDimensions(
    absl::Span<const int64_t> from, absl::Span<const int64_t> to,
    absl::Span<const int64_t> ids) {
  DimensionVector found;
  size_t i = 0;
  size_t j = 0;
  // Elements in front: the product of from[0 … i) and of to[0 … j).
  int64_t before_i = 1;
  int64_t before_j = 1;
  for (int64_t id : ids) {
    for (; i < static_cast<size_t>(id); ++i) before_i *= from[i];
    const int64_t size = from[i];
    // An array without elements has no strides to compare.
    if (before_i == 0 || size == 0) return std::nullopt;
    while (j < to.size() &&
           (before_j < before_i ||
            (before_j == before_i && to[j] != size && to[j] == 1))) {
      before_j *= to[j++];
    }
    if (j == to.size() || before_j != before_i || to[j] != size) {
      return std::nullopt;
    }
    found.push_back(static_cast<int64_t>(j));
    before_j *= to[j++];
  }
  return found;
}

bool OnlyDegenerateDimensionsDiffer(absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b) {
  size_t j = 0;
  for (int64_t size : a) {
    if (size == 1) continue;
    while (j < b.size() && b[j] == 1) ++j;
    if (j == b.size() || b[j] != size) return false;
    ++j;
  }
  while (j < b.size() && b[j] == 1) ++j;
  return j == b.size();
}

bool Contains(absl::Span<const int64_t> dimensions, int64_t dimension) {
  return std::find(dimensions.begin(), dimensions.end(), dimension) !=
         dimensions.end();
}

DimensionVector OtherDimensions(absl::Span<const int64_t> dimensions,
                                int64_t rank) {
  DimensionVector others;
  for (int64_t i = 0; i < rank; ++i) {
    if (!Contains(dimensions, i)) others.push_back(i);
  }
  return others;
}

DimensionVector WithoutDimensions(absl::Span<const int64_t> dimensions,
                                  absl::Span<const int64_t> positions) {
  DimensionVector result;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (!Contains(positions, static_cast<int64_t>(i))) {
      result.push_back(dimensions[i]);
    }
  }
  return result;
}

}  // namespace hone::hlo

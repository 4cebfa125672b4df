#include "hlo/evaluator/kernels/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Elements worth handing to another thread.
constexpr int64_t kGrain = 64 * 1024;
// Tile of a transposition: its rows and columns stay in the first-level cache.
constexpr int64_t kTile = 32;

struct Dimension {
  int64_t size;
  int64_t source;
  int64_t target;
};

// Drops dimensions of size 1, orders the rest by target stride and merges
// neighbors that are one run in both source and target.
std::vector<Dimension> Normalize(absl::Span<const int64_t> sizes,
                                 const DimensionVector& source,
                                 const DimensionVector& target) {
  std::vector<Dimension> dimensions;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) dimensions.push_back({sizes[i], source[i], target[i]});
  }
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const Dimension& a, const Dimension& b) {
                     return std::abs(a.target) > std::abs(b.target);
                   });
  std::vector<Dimension> merged;
  for (const Dimension& d : dimensions) {
    if (!merged.empty()) {
      Dimension& outer = merged.back();
      if (outer.source == d.source * d.size &&
          outer.target == d.target * d.size) {
        outer = {outer.size * d.size, d.source, d.target};
        continue;
      }
    }
    merged.push_back(d);
  }
  return merged;
}

template <typename T>
void CopyRow(int64_t n, const T* source, int64_t source_stride, T* target,
             int64_t target_stride) {
  if (target_stride == 1 && source_stride == 1) {
    std::memcpy(target, source, static_cast<size_t>(n) * sizeof(T));
  } else if (target_stride == 1 && source_stride == 0) {
    std::fill_n(target, n, *source);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      target[i * target_stride] = source[i * source_stride];
    }
  }
}

// The innermost two dimensions.
template <typename T>
void CopyPlane(const Dimension& outer, const Dimension& inner, const T* source,
               T* target) {
  if (std::abs(inner.source) <= std::abs(outer.source) || outer.source == 0) {
    for (int64_t i = 0; i < outer.size; ++i) {
      CopyRow(inner.size, source + i * outer.source, inner.source,
              target + i * outer.target, inner.target);
    }
    return;
  }
  for (int64_t i0 = 0; i0 < outer.size; i0 += kTile) {
    const int64_t i1 = std::min(i0 + kTile, outer.size);
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile) {
      const int64_t rows = std::min(kTile, inner.size - j0);
      for (int64_t i = i0; i < i1; ++i) {
        CopyRow(rows, source + i * outer.source + j0 * inner.source,
                inner.source, target + i * outer.target + j0 * inner.target,
                inner.target);
      }
    }
  }
}

template <typename T>
void CopyBox(absl::Span<const Dimension> dimensions, const T* source,
             T* target) {
  switch (dimensions.size()) {
    case 0:
      *target = *source;
      return;
    case 1:
      CopyRow(dimensions[0].size, source, dimensions[0].source, target,
              dimensions[0].target);
      return;
    case 2:
      CopyPlane(dimensions[0], dimensions[1], source, target);
      return;
    default:
      for (int64_t i = 0; i < dimensions[0].size; ++i) {
        CopyBox(dimensions.subspan(1), source + i * dimensions[0].source,
                target + i * dimensions[0].target);
      }
  }
}

// Brings the dimension that is contiguous in the source next to the innermost
// one, so that CopyPlane can tile the two.
void PairForTiling(std::vector<Dimension>& dimensions) {
  if (dimensions.size() < 3) return;
  const auto inner = std::prev(dimensions.end());
  if (std::abs(inner->source) <= 1) return;
  const auto unit =
      std::find_if(dimensions.begin(), inner,
                   [](const Dimension& d) { return std::abs(d.source) == 1; });
  if (unit != inner) std::rotate(unit, unit + 1, inner);
}

}  // namespace

DimensionVector RowMajorStrides(absl::Span<const int64_t> dimensions) {
  DimensionVector strides(dimensions.size());
  int64_t stride = 1;
  for (size_t i = dimensions.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dimensions[i];
  }
  return strides;
}

absl::Status StridedCopy(Context& context, int64_t width,
                         absl::Span<const int64_t> sizes,
                         const StridedSource& source,
                         const StridedTarget& target) {
  int64_t total = 1;
  for (int64_t size : sizes) total *= size;
  if (total <= 0) return absl::OkStatus();
  std::vector<Dimension> dimensions =
      Normalize(sizes, source.strides, target.strides);
  PairForTiling(dimensions);
  if (dimensions.empty()) {
    std::memcpy(target.data, source.data, static_cast<size_t>(width));
    return absl::OkStatus();
  }
  // The largest of the outer dimensions is shared out.
  const auto split = std::max_element(
      dimensions.begin(),
      dimensions.size() > 2 ? dimensions.end() - 2 : dimensions.begin() + 1,
      [](const Dimension& a, const Dimension& b) { return a.size < b.size; });
  const int64_t split_size = split->size;
  return context.ParallelFor(
      split_size, std::max<int64_t>(kGrain / (total / split_size), 1),
      [&](int64_t begin, int64_t end) {
        std::vector<Dimension> part = dimensions;
        Dimension& d = part[static_cast<size_t>(split - dimensions.begin())];
        d.size = end - begin;
        DispatchWidth(width, [&]<typename T>() {
          CopyBox<T>(part,
                     reinterpret_cast<const T*>(source.data) + begin * d.source,
                     reinterpret_cast<T*>(target.data) + begin * d.target);
        });
      });
}

absl::Status Fill(Context& context, int64_t width, const std::byte* element,
                  std::byte* target, int64_t n) {
  return StridedCopy(context, width, {n}, {element, {0}}, {target, {1}});
}

}  // namespace hone::hlo::evaluator

#include "hlo/passes/movement/dimension_run.h"

#include <algorithm>
#include <cstddef>

#include "absl/algorithm/container.h"

namespace hone::hlo {

DimensionVector Merged(const DimensionVector& sizes, const DimensionRun& run,
                       int64_t position) {
  DimensionVector merged(sizes.begin(), sizes.begin() + position);
  int64_t product = 1;
  for (int64_t size : run) product *= size;
  merged.push_back(product);
  merged.insert(merged.end(),
                sizes.begin() + position + static_cast<int64_t>(run.size()),
                sizes.end());
  return merged;
}

int64_t MergedIndex(int64_t d, const DimensionRun& run, int64_t position) {
  const auto last = position + static_cast<int64_t>(run.size()) - 1;
  return d <= position ? d : std::max(d, last) - (last - position);
}

DimensionVector MergedIndices(const DimensionVector& dimensions,
                              const DimensionRun& run, int64_t position) {
  DimensionVector merged;
  for (int64_t d : dimensions) {
    const bool goes =
        d > position && d < position + static_cast<int64_t>(run.size());
    if (!goes) merged.push_back(MergedIndex(d, run, position));
  }
  return merged;
}

std::optional<std::pair<DimensionRun, int64_t>> FindMerge(
    const DimensionVector& wide, const DimensionVector& narrow) {
  if (wide.size() <= narrow.size() || narrow.empty()) return std::nullopt;
  const size_t length = wide.size() - narrow.size() + 1;
  for (size_t p = 0; p < narrow.size(); ++p) {
    const DimensionRun run(wide.begin() + static_cast<int64_t>(p),
                           wide.begin() + static_cast<int64_t>(p + length));
    const auto position = static_cast<int64_t>(p);
    if (absl::c_all_of(run, [](int64_t size) { return size > 1; }) &&
        Merged(wide, run, position) == narrow) {
      return std::make_pair(run, position);
    }
  }
  return std::nullopt;
}

std::optional<int64_t> PositionIn(const DimensionVector& numbers,
                                  const DimensionRun& run, int64_t position) {
  const auto length = static_cast<int64_t>(run.size());
  int64_t found = kNoPosition;
  int64_t count = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t offset = numbers[i] - position;
    if (offset < 0 || offset >= length) continue;
    if (found == kNoPosition) found = static_cast<int64_t>(i);
    if (static_cast<int64_t>(i) != found + offset) return std::nullopt;
    ++count;
  }
  if (count == 0) return kNoPosition;
  if (count != length) return std::nullopt;
  return found;
}

}  // namespace hone::hlo

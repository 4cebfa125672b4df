#include "hlo/tiles/reshaped_box.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/saturating.h"

namespace hone::hlo {
namespace {

// A range of dimensions of each shape with the same number of elements.
struct Group {
  size_t to_begin = 0;
  size_t to_end = 0;
  size_t from_begin = 0;
  size_t from_end = 0;
};

// Appends the intervals of `from` for one group.
void AppendGroup(const Shape& to, const Box& box, const Shape& from,
                 const Group& group, Box& result) {
  if (group.to_end - group.to_begin == 1 &&
      group.from_end - group.from_begin == 1) {
    result.push_back(box[group.to_begin]);
    return;
  }
  // The first and the last element in row-major order.
  int64_t first = 0;
  int64_t last = 0;
  for (size_t d = group.to_begin; d < group.to_end; ++d) {
    first = first * to.dimensions()[d] + box[d].start;
    last = last * to.dimensions()[d] + box[d].end() - 1;
  }
  int64_t stride = 1;
  for (size_t d = group.from_begin; d < group.from_end; ++d) {
    stride *= from.dimensions()[d];
  }
  for (size_t d = group.from_begin; d < group.from_end; ++d) {
    const int64_t size = from.dimensions()[d];
    stride /= size;
    const int64_t low = first / stride;
    const int64_t high = last / stride;
    result.push_back({low, high - low + 1});
    if (low == high) {
      first %= stride;
      last %= stride;
    } else {
      // The rest of the dimensions may have any index.
      first = 0;
      last = stride - 1;
    }
  }
}

}  // namespace

std::optional<Box> ReshapedBox(const Shape& to, const Box& box,
                               const Shape& from) {
  if (to.layout() != nullptr || from.layout() != nullptr) return std::nullopt;
  const int64_t count = Volume(WholeBox(to.dimensions()));
  if (count != Volume(WholeBox(from.dimensions())) || count == 0 ||
      count == std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  Box result;
  Group group;
  const size_t to_rank = to.dimensions().size();
  const size_t from_rank = from.dimensions().size();
  while (group.to_begin < to_rank || group.from_begin < from_rank) {
    int64_t to_product = 1;
    int64_t from_product = 1;
    group.to_end = group.to_begin;
    group.from_end = group.from_begin;
    // At least one dimension of each, unless there are none left; then as many
    // as make both products equal.
    do {
      if (group.to_end < to_rank &&
          (to_product <= from_product || group.from_end == from_rank)) {
        to_product *= to.dimensions()[group.to_end++];
      } else {
        from_product *= from.dimensions()[group.from_end++];
      }
    } while (
        to_product != from_product ||
        (group.from_end == group.from_begin && group.from_end < from_rank));
    AppendGroup(to, box, from, group, result);
    group.to_begin = group.to_end;
    group.from_begin = group.from_end;
  }
  return result;
}

}  // namespace hone::hlo

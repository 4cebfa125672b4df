#include "loops/ir/element_number.h"

#include <cstddef>

namespace hone::loops {

std::optional<Affine> NumberOf(const Program& program, const Access& access) {
  const Buffer& buffer = program.buffer(access.buffer);
  const bool is_flat = access.indices.size() != buffer.dimensions.size();
  Affine number;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    if (access.indices[d].offset != nullptr) return std::nullopt;
    number += access.indices[d].affine * (is_flat ? 1 : buffer.strides[d]);
  }
  return number;
}

bool IsBehind(const Program& program, const Access& first, const Access& other,
              int64_t distance) {
  if (first.buffer != other.buffer) return false;
  const std::optional<Affine> a = NumberOf(program, first);
  const std::optional<Affine> b = NumberOf(program, other);
  return a.has_value() && b.has_value() && *b - *a == Affine(distance);
}

}  // namespace hone::loops

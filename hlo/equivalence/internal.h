#ifndef HONE_HLO_EQUIVALENCE_INTERNAL_H_
#define HONE_HLO_EQUIVALENCE_INTERNAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/buffer_pool.h"

namespace hone::hlo {

// MakeArguments. With `special`, adversarial arguments have infinities and NaN,
// and extreme scalars are large rather than small. On the pool's threads if
// there is one, in memory of `buffers` if that is not null and has it; the
// values do not depend on either.
absl::StatusOr<std::vector<Literal>> Arguments(const Module& module,
                                               ArgumentKind kind, bool special,
                                               uint64_t seed, ThreadPool* pool,
                                               evaluator::BufferPool* buffers);

// The index of the element with that number in row-major order: "[4,7]".
std::string ElementName(const Shape& shape, int64_t linear);

// Calls `change` with each array of an argument, whose data stay the caller's
// own.
template <typename Change>
void ForEachArray(Literal& literal, const Change& change) {
  if (!literal.shape().IsTuple()) return change(literal);
  std::vector<Literal> elements = literal.elements();
  literal = Literal();
  for (Literal& element : elements) ForEachArray(element, change);
  literal = Literal::Tuple(std::move(elements));
}

// Replaces each element of an array of floats, whose data are the caller's own;
// leaves others as they are.
template <typename Replace>
void ReplaceFloats(Literal& array, const Replace& replace) {
  const ElementType type = array.shape().element_type();
  if (type == ElementType::kF32) {
    for (float& x : array.mutable_values<float>()) {
      x = static_cast<float>(replace(static_cast<double>(x)));
    }
  } else if (IsFloat(type)) {
    for (int64_t i = 0; i < array.num_elements(); ++i) {
      array.SetDouble(i, replace(array.AsDouble(i)));
    }
  }
}

// Replaces the elements of an argument's float arrays by their absolute values.
// The data must be the caller's own.
void MakeNonNegative(Literal& argument);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_INTERNAL_H_

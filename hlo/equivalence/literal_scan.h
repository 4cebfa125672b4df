#ifndef HONE_HLO_EQUIVALENCE_LITERAL_SCAN_H_
#define HONE_HLO_EQUIVALENCE_LITERAL_SCAN_H_

#include <cstdint>

#include "base/hash.h"
#include "base/thread_pool.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"

namespace hone::hlo {

// Floating-point elements and how many of them are NaN or infinite.
struct FloatCounts {
  int64_t floats = 0;
  int64_t nan = 0;
  int64_t non_finite = 0;

  // Counts those of one more value, on the pool's threads if there is one.
  void Add(const Literal& literal, ThreadPool* pool);
};

// The number of floating-point elements of values of that shape.
int64_t FloatsOf(const Shape& shape);

// Returns true if all elements of the values, whose shapes are the same, are
// equal or both NaN. On the pool's threads if there is one.
bool HaveSameNumbers(const Literal& a, const Literal& b, ThreadPool* pool);

// Returns a hash of the shape, layout included, and the bits of an array. On
// the pool's threads if there is one.
Hash128 HashArray(const Literal& array, ThreadPool* pool);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_LITERAL_SCAN_H_

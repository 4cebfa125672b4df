#ifndef HONE_LOOPS_IR_DOT_PRODUCTS_H_
#define HONE_LOOPS_IR_DOT_PRODUCTS_H_

#include <cstdint>

#include "loops/ir/program.h"

namespace hone::loops {

// The instructions of a machine that sum products.
struct DotInstructions {
  // Two products of bf16.
  bool has_bf16 = false;
  // Two products of integers of at most 16 bits, or four of u8 and s8.
  bool has_integer = false;
};

// A sum of products of adjacent elements that one instruction can add to each
// lane.
struct DotProducts {
  enum class Kind { kNone, kBf16, kS16, kBytes };
  Kind kind = Kind::kNone;
  // The first and the last elements of the factors; those of u8 first in
  // kBytes.
  const Access* factors[2] = {};
  const Access* last_factors[2] = {};

  // The elements of each factor.
  int64_t count() const { return kind == Kind::kBytes ? 4 : 2; }
};

// Matches the value of a statement such as
//
//   s[i] += convert(f32, a[2*k]) * convert(f32, b[k,i,0])
//         + convert(f32, a[2*k+1]) * convert(f32, b[k,i,1])
//
// Where the factors of different lanes are is not looked at: code generators
// require them to be the same elements, or the next ones.
DotProducts MatchDotProducts(const Program& program, const Statement& statement,
                             const DotInstructions& instructions);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_DOT_PRODUCTS_H_

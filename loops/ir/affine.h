#ifndef HONE_LOOPS_IR_AFFINE_H_
#define HONE_LOOPS_IR_AFFINE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace hone::loops {

// The iteration variable of a loop. Unique on every path from the root of a
// program to a leaf; sibling loops may share one.
using VarId = int32_t;

// An affine expression: constant + Σ coefficient · variable. In normal form:
// terms ascend by variable and no coefficient is 0. A value type.
class Affine {
 public:
  struct Term {
    VarId var = 0;
    int64_t coefficient = 0;
    friend bool operator==(const Term&, const Term&) = default;
  };

  Affine() = default;
  // Implicit: a number is an affine expression.
  Affine(int64_t constant) : constant_(constant) {}  // NOLINT
  static Affine Var(VarId var, int64_t coefficient = 1);

  int64_t constant() const { return constant_; }
  absl::Span<const Term> terms() const { return terms_; }
  bool IsConstant() const { return terms_.empty(); }
  // The coefficient of `var`; 0 if it does not occur.
  int64_t coefficient(VarId var) const;
  bool Uses(VarId var) const { return coefficient(var) != 0; }

  Affine& operator+=(const Affine& other);
  Affine& operator-=(const Affine& other);
  Affine& operator*=(int64_t factor);

  // Returns this expression with `var` replaced by `replacement`.
  Affine Substitute(VarId var, const Affine& replacement) const;
  int64_t Evaluate(absl::FunctionRef<int64_t(VarId)> value_of) const;

  friend bool operator==(const Affine&, const Affine&) = default;

 private:
  int64_t constant_ = 0;
  absl::InlinedVector<Term, 3> terms_;
};

Affine operator+(Affine a, const Affine& b);
Affine operator-(Affine a, const Affine& b);
Affine operator*(Affine a, int64_t factor);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_AFFINE_H_

#include "loops/ir/affine.h"

#include <algorithm>

namespace hone::loops {

Affine Affine::Var(VarId var, int64_t coefficient) {
  Affine result;
  if (coefficient != 0) result.terms_.push_back({var, coefficient});
  return result;
}

int64_t Affine::coefficient(VarId var) const {
  for (const Term& term : terms_) {
    if (term.var == var) return term.coefficient;
  }
  return 0;
}

Affine& Affine::operator+=(const Affine& other) {
  constant_ += other.constant_;
  for (const Term& term : other.terms_) {
    const auto at =
        std::lower_bound(terms_.begin(), terms_.end(), term.var,
                         [](const Term& t, VarId var) { return t.var < var; });
    if (at == terms_.end() || at->var != term.var) {
      terms_.insert(at, term);
    } else if ((at->coefficient += term.coefficient) == 0) {
      terms_.erase(at);
    }
  }
  return *this;
}

Affine& Affine::operator-=(const Affine& other) { return *this += other * -1; }

Affine& Affine::operator*=(int64_t factor) {
  constant_ *= factor;
  if (factor == 0) terms_.clear();
  for (Term& term : terms_) term.coefficient *= factor;
  return *this;
}

Affine Affine::Substitute(VarId var, const Affine& replacement) const {
  const int64_t factor = coefficient(var);
  if (factor == 0) return *this;
  Affine result = *this;
  result -= Var(var, factor);
  result += replacement * factor;
  return result;
}

int64_t Affine::Evaluate(absl::FunctionRef<int64_t(VarId)> value_of) const {
  int64_t value = constant_;
  for (const Term& term : terms_)
    value += term.coefficient * value_of(term.var);
  return value;
}

Affine operator+(Affine a, const Affine& b) { return a += b; }
Affine operator-(Affine a, const Affine& b) { return a -= b; }
Affine operator*(Affine a, int64_t factor) { return a *= factor; }

}  // namespace hone::loops

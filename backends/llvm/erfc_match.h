#ifndef HONE_BACKENDS_LLVM_ERFC_MATCH_H_
#define HONE_BACKENDS_LLVM_ERFC_MATCH_H_

#include "loops/ir/expression.h"

namespace hone::backends {

// Returns x if the expression is erfc(x) as loops::WriteErfc writes it; null
// for any other.
loops::ExpressionPtr ArgumentOfErfc(const loops::Expression& expression);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_LLVM_ERFC_MATCH_H_

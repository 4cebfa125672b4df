#ifndef HONE_LOOPS_TEXT_AFFINE_H_
#define HONE_LOOPS_TEXT_AFFINE_H_

#include <string>

#include "absl/types/span.h"

#include "loops/affine.h"

namespace hone::loops {

// "16*i0+i1-1", "1000-16*i0", "0": terms from the outermost variable inwards,
// the constant behind them, or in front where that spares a leading minus.
// `vars` are the variables in scope, by depth.
std::string AffineText(const Affine& affine, absl::Span<const VarId> vars);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_AFFINE_H_

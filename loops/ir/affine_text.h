#ifndef HONE_LOOPS_IR_AFFINE_TEXT_H_
#define HONE_LOOPS_IR_AFFINE_TEXT_H_

#include <string>

#include "absl/types/span.h"

#include "loops/ir/affine.h"

namespace hone::loops {

// Prints an affine expression: "16*i0+i1-1", "1000-16*i0", "0". Terms go from
// the outermost variable inwards; the constant follows them, or precedes them
// if that avoids a leading minus. `vars` are the variables in scope, by depth.
std::string AffineText(const Affine& affine, absl::Span<const VarId> vars);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_AFFINE_TEXT_H_

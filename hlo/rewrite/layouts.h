#ifndef HONE_HLO_REWRITE_LAYOUTS_H_
#define HONE_HLO_REWRITE_LAYOUTS_H_

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// For passes that run after layouts are assigned and keep or choose them.

// Returns true if something else of the same layout may compute the value of
// `id`: like Rewriter::MayReplace, whatever its users make of the layout and
// whatever dimensions are dynamic.
bool MayReplaceInLayout(const Rewriter& r, InstructionId id);

// Returns true if the shape is an array of static sizes without tiles.
bool IsPlainArray(const Shape& shape);

// Returns true if both arrays have the same layout, which may be the default.
bool HaveSameLayout(const Shape& a, const Shape& b);

// `shape` with that layout; the row-major one if `layout` is null.
ShapePtr WithLayout(const Shape& shape, const Layout* layout);

// The value of `operand` in the layout of `shape`, which is otherwise its own.
InstructionId MakeCopyInto(Rewriter& r, InstructionId operand, ShapePtr shape,
                           Place place = Place::current());

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_LAYOUTS_H_

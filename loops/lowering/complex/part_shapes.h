#ifndef HONE_LOOPS_LOWERING_COMPLEX_PART_SHAPES_H_
#define HONE_LOOPS_LOWERING_COMPLEX_PART_SHAPES_H_

#include <cstddef>

#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"

namespace hone::loops {

// Returns true if an array of the shape is complex.
bool HasComplex(const hlo::Shape& shape);

// The shape of the real parts of an array; the same if it is real.
hlo::ShapePtr PartShape(const hlo::Shape& shape);

// The shape of a value whose complex arrays are tuples of two.
hlo::ShapePtr TupleShape(const hlo::ShapePtr& shape);

// The shape of the same bytes with real elements: c64[n] is f32[n,2].
hlo::ShapePtr BytesShape(const hlo::ShapePtr& shape);

// The real (part 0) or the imaginary (part 1) parts of a complex array.
hlo::Literal PartOf(const hlo::Literal& literal, size_t part);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_COMPLEX_PART_SHAPES_H_

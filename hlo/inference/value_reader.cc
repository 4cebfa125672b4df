#include "hlo/inference/value_reader.h"

#include "base/excerpt.h"

namespace hone::hlo::inference {

std::string ShownShape(const Shape& shape) { return Excerpt(shape.ToString()); }

}  // namespace hone::hlo::inference

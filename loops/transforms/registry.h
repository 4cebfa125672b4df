#ifndef HONE_LOOPS_TRANSFORMS_REGISTRY_H_
#define HONE_LOOPS_TRANSFORMS_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/registry.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

#define HONE_TRANSFORM(name, factory) std::unique_ptr<Transform> factory();
#include "loops/transforms/transforms.def"
#undef HONE_TRANSFORM

// One line of transforms.def.
struct TransformEntry {
  absl::string_view id;
  const Transform* transform;  // lives as long as the process
};

// All transformations.
const Registry<TransformEntry>& Transforms();

// The transformations of Transforms(), in its order.
absl::Span<const Transform* const> AllTransforms();

// Returns NotFound, listing the known names, if there is none of this name.
absl::StatusOr<const Transform*> FindTransform(absl::string_view name);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_REGISTRY_H_

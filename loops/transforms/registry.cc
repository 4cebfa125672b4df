#include "loops/transforms/registry.h"

#include <vector>

#include "base/status_macros.h"

namespace hone::loops {

const Registry<TransformEntry>& Transforms() {
  static const auto* const transforms =
      new Registry<TransformEntry>("transformation", {
#define HONE_TRANSFORM(name, factory) {name, factory().release()},
#include "loops/transforms/transforms.def"
#undef HONE_TRANSFORM
                                                     });
  return *transforms;
}

absl::Span<const Transform* const> AllTransforms() {
  static const auto* const transforms = [] {
    auto* list = new std::vector<const Transform*>;
    for (const TransformEntry& entry : Transforms()) {
      list->push_back(entry.transform);
    }
    return list;
  }();
  return *transforms;
}

absl::StatusOr<const Transform*> FindTransform(absl::string_view name) {
  HONE_ASSIGN_OR_RETURN(const TransformEntry* entry, Transforms().Find(name));
  return entry->transform;
}

}  // namespace hone::loops

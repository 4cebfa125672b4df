#include "loops/transforms/registry.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::loops {

absl::Span<const Transform* const> AllTransforms() {
  static const auto* const transforms = new std::vector<const Transform*>{
#define HONE_TRANSFORM(name, factory) factory().release(),
#include "loops/transforms/transforms.def"
#undef HONE_TRANSFORM
  };
  return *transforms;
}

absl::StatusOr<const Transform*> FindTransform(absl::string_view name) {
  for (const Transform* transform : AllTransforms()) {
    if (transform->name() == name) return transform;
  }
  return absl::NotFoundError(absl::StrCat(
      "unknown transformation '", name, "', expected one of: ",
      absl::StrJoin(AllTransforms(), ", ",
                    [](std::string* out, const Transform* transform) {
                      absl::StrAppend(out, transform->name());
                    })));
}

}  // namespace hone::loops

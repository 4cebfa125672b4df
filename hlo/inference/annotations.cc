#include "hlo/inference/annotations.h"

#include <vector>

#include "absl/strings/string_view.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/inference/annotation_text.h"
#include "hlo/inference/internal.h"
#include "hlo/inference/sharding.h"
#include "hlo/inference/value_reader.h"

namespace hone::hlo::inference {
namespace {

// None where brackets do not match, which no annotation has as many of.
std::vector<absl::string_view> Parts(absl::string_view text) {
  return SplitAtCommas(text).value_or(std::vector<absl::string_view>());
}

bool HasFormOf(absl::string_view tree, const Shape& shape) {
  const auto elements = Enclosed(tree, '(', ')');
  if (elements.has_value() != shape.IsTuple()) return false;
  if (!elements.has_value()) return true;
  const std::vector<absl::string_view> parts = Parts(*elements);
  if (parts.size() != shape.tuple_elements().size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!HasFormOf(parts[i], *shape.tuple_elements()[i])) return false;
  }
  return true;
}

absl::Status VerifyOrigin(absl::string_view text, const Shape& shape) {
  const auto tree = Enclosed(text, '{', '}');
  // `{[synthetic_call]}` and the like name no values.
  if (!tree.has_value() || tree->empty() || tree->front() == '[' ||
      HasFormOf(*tree, shape)) {
    return absl::OkStatus();
  }
  return Invalid("origin=", Excerpt(text), " of ", ShownShape(shape),
                 ", expected a tree of the same form");
}

}  // namespace

absl::Status VerifyAnnotations(const Instruction& instruction,
                               int64_t partitions) {
  for (const auto& [name, value] : instruction.attributes().others) {
    if (name == "sharding") {
      HONE_RETURN_IF_ERROR(
          VerifySharding(value, instruction.shape(), partitions));
    } else if (name == "origin") {
      HONE_RETURN_IF_ERROR(VerifyOrigin(value, instruction.shape()));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::hlo::inference

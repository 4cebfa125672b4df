#include "hlo/ir/attributes.h"

#include <algorithm>

namespace hone::hlo {
namespace {

template <typename T>
bool PointeesEqual(const std::shared_ptr<const T>& a,
                   const std::shared_ptr<const T>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

}  // namespace

bool HasBaseDilation(const Window& window) {
  return std::any_of(
      window.begin(), window.end(),
      [](const WindowDimension& w) { return w.base_dilation > 1; });
}

const std::string* Attributes::FindOther(absl::string_view name) const {
  for (const auto& [key, value] : others) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool operator==(const Attributes& a, const Attributes& b) {
  return &a == &b ||
         (a.dimensions == b.dimensions && PointeesEqual(a.dot, b.dot) &&
          PointeesEqual(a.convolution, b.convolution) &&
          PointeesEqual(a.window, b.window) &&
          PointeesEqual(a.gather, b.gather) &&
          PointeesEqual(a.scatter, b.scatter) && a.slice == b.slice &&
          a.padding == b.padding && a.direction == b.direction &&
          a.comparison_type == b.comparison_type &&
          a.indices_are_sorted == b.indices_are_sorted &&
          a.unique_indices == b.unique_indices && a.is_stable == b.is_stable &&
          a.rng_algorithm == b.rng_algorithm &&
          a.exponent_bits == b.exponent_bits &&
          a.mantissa_bits == b.mantissa_bits && a.epsilon == b.epsilon &&
          a.feature_index == b.feature_index && a.k == b.k &&
          a.largest == b.largest &&
          a.custom_call_target == b.custom_call_target &&
          a.fusion_kind == b.fusion_kind && a.others == b.others);
}

const std::shared_ptr<const Attributes>& NoAttributes() {
  static const auto* const none =
      new std::shared_ptr<const Attributes>(std::make_shared<Attributes>());
  return *none;
}

}  // namespace hone::hlo

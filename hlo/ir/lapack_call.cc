#include "hlo/ir/lapack_call.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hone::hlo {

std::optional<LapackCall> LapackCall::OfTarget(absl::string_view target) {
  if (!absl::ConsumeSuffix(&target, "_ffi") ||
      (!absl::ConsumePrefix(&target, "lapack_") &&
       !absl::ConsumePrefix(&target, "blas_")) ||
      target.empty()) {
    return std::nullopt;
  }
  LapackCall call;
  call.routine = std::string(target.substr(1));
  switch (target[0]) {
    case 's':
      call.type = ElementType::kF32;
      return call;
    case 'd':
      call.type = ElementType::kF64;
      return call;
    case 'c':
      call.type = ElementType::kC64;
      return call;
    case 'z':
      call.type = ElementType::kC128;
      return call;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> BackendConfigNumber(const Attributes& attributes,
                                           absl::string_view name) {
  const std::string* config = attributes.FindOther("backend_config");
  if (config == nullptr) return std::nullopt;
  absl::string_view text = *config;
  absl::ConsumePrefix(&text, "{");
  absl::ConsumeSuffix(&text, "}");
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (absl::StripAsciiWhitespace(pair.first) != name) continue;
    const absl::string_view number =
        pair.second.substr(0, pair.second.find(':'));
    int64_t value = 0;
    if (absl::SimpleAtoi(absl::StripAsciiWhitespace(number), &value)) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace hone::hlo

#include "bench/pass_order_split.h"

#include "absl/strings/match.h"

namespace hone::bench {

Split SplitOf(absl::string_view module) {
  for (absl::string_view family : {"bert", "gpt2", "resnet"}) {
    if (absl::StartsWith(module, family)) return Split::kTest;
  }
  for (absl::string_view family : {"llama", "vit"}) {
    if (absl::StartsWith(module, family)) return Split::kValidation;
  }
  return Split::kTraining;
}

}  // namespace hone::bench

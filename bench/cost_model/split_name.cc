#include "bench/cost_model/split_name.h"

#include <cstddef>

namespace hone::bench {

SplitName ParseSplitName(const std::string& split) {
  const size_t colon = split.rfind(':');
  if (colon == std::string::npos ||
      split.find('/', colon) != std::string::npos) {
    return {.path = split, .name = "random"};
  }
  return {.path = split.substr(0, colon), .name = split.substr(colon + 1)};
}

}  // namespace hone::bench

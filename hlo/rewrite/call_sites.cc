#include "hlo/rewrite/call_sites.h"

#include <algorithm>

namespace hone::hlo {

bool IsSharded(const Instruction& instruction) {
  const auto& others = instruction.attributes().others;
  return std::any_of(others.begin(), others.end(), [](const auto& attribute) {
    return attribute.first == "sharding";
  });
}

}  // namespace hone::hlo

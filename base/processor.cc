#include "base/processor.h"

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace hone {

std::string ProcessorModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!absl::StartsWith(line, "model name")) continue;
    return std::string(
        absl::StripAsciiWhitespace(line.substr(line.find(':') + 1)));
  }
  return "";
}

}  // namespace hone

#include "base/processor.h"

#include <cstdlib>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

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

std::string IsaVariable() {
  const char* isa = std::getenv("HONE_CPU_ISA");
  return isa == nullptr ? "" : isa;
}

absl::Status CheckIsa(absl::string_view isa) {
  if (isa.empty() || isa == "native" || isa == "avx2") return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("HONE_CPU_ISA is '", isa, "', expected avx2 or native"));
}

}  // namespace hone

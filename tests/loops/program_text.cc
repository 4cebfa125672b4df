#include "tests/loops/program_text.h"

#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"

#include "base/check.h"
#include "loops/text/text.h"

namespace hone::testing {

loops::Program ParseText(absl::string_view text) {
  absl::StatusOr<loops::Program> program = loops::ParseProgram(text);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", program.status().ToString().c_str());
  }
  HONE_CHECK(program.ok());
  return *std::move(program);
}

std::string Canonical(absl::string_view text) {
  return loops::PrintProgram(ParseText(text));
}

}  // namespace hone::testing

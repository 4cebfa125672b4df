#include "loops/text/canonical.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "loops/text/text.h"

namespace hone::loops {

absl::StatusOr<Program> CanonicalProgram(const Program& program) {
  // Parsing numbers the buffers in the order of the text.
  HONE_ASSIGN_OR_RETURN(Program numbered, ParseProgram(PrintProgram(program)));
  numbered.set_name("kernel");
  for (size_t i = 0; i < numbered.buffers().size(); ++i) {
    const auto id = static_cast<BufferId>(i);
    Buffer buffer = numbered.buffer(id);
    buffer.name = absl::StrCat("b", i);
    numbered.SetBuffer(id, std::move(buffer));
  }
  return ParseProgram(PrintProgram(numbered));
}

std::string FingerprintOf(const Program& canonical) {
  return Sha256Hex(PrintProgram(canonical));
}

}  // namespace hone::loops

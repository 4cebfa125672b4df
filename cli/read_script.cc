#include "cli/read_script.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/transforms/script.h"

namespace hone::cli {

absl::StatusOr<std::string> ReadScript(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file is a script, too; << fails for it.
  if (!file || (file.peek() != EOF && !(text << file.rdbuf())) || file.bad()) {
    return absl::NotFoundError(absl::StrCat(
        path, ": cannot be read, expected a script of transformations"));
  }
  return std::move(text).str();
}

absl::StatusOr<loops::Program> Replay(const loops::Program& program,
                                      const std::string& text,
                                      const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                        loops::ParseScript(text, file));
  absl::StatusOr<loops::Program> result = loops::ApplyScript(program, steps);
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      absl::StrCat(file, ": ", result.status().message()));
}

}  // namespace hone::cli

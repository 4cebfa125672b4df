#include "bench/compile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "bench/python_script.h"

namespace hone::bench {

absl::StatusOr<nlohmann::ordered_json> RunCompileBench(
    const CompileOptions& options, std::ostream& out) {
  HONE_RETURN_IF_ERROR(CheckPython(options.python, "jax", out));
  std::vector<std::string> arguments = {
      "--layers",  absl::StrJoin(options.layers, ","),
      "--threads", absl::StrCat(options.threads),
      "--limit",   absl::StrCat(options.limit)};
  if (!options.figure.empty()) {
    arguments.insert(arguments.end(), {"--figure", options.figure});
  }
  return RunScript(options.python, "compile_times.py", std::move(arguments), "",
                   out);
}

}  // namespace hone::bench

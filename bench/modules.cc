#include "bench/modules.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/python_script.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

absl::StatusOr<Json> TimeModules(const ModulesOptions& options,
                                 std::vector<std::string> arguments,
                                 const std::string& python_modules,
                                 std::ostream& out) {
  HONE_RETURN_IF_ERROR(CheckRounds(options.rounds));
  HONE_RETURN_IF_ERROR(CheckPython(options.python, python_modules, out));
  arguments.insert(arguments.end(), {"--only", options.only, "--threads",
                                     absl::StrCat(options.threads), "--rounds",
                                     absl::StrCat(options.rounds), "--limit",
                                     absl::StrCat(options.limit), "--xla-limit",
                                     absl::StrCat(options.xla_limit)});
  if (!options.tuned.empty()) {
    arguments.insert(arguments.end(), {"--tuned", options.tuned});
  }
  return RunScript(options.python, "time_modules.py", std::move(arguments), "",
                   out);
}

}  // namespace

absl::StatusOr<Json> RunModulesBench(const ModulesOptions& options,
                                     std::ostream& out) {
  return TimeModules(options,
                     {"--instructions", absl::StrCat(options.instructions)},
                     "jax, zstandard", out);
}

absl::StatusOr<Json> RunUserProgramsBench(const ModulesOptions& options,
                                          std::ostream& out) {
  return TimeModules(options, {"--programs", "bench/data/user_programs"}, "jax",
                     out);
}

}  // namespace hone::bench

#include "bench/kernel_sweep.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/python_script.h"

namespace hone::bench {

absl::StatusOr<nlohmann::ordered_json> RunKernelSweepBench(
    const KernelSweepOptions& options, std::ostream& out) {
  HONE_RETURN_IF_ERROR(CheckRounds(options.rounds));
  HONE_RETURN_IF_ERROR(CheckPython(options.python, "jax, torch", out));
  std::vector<std::string> arguments = {
      "--count",   absl::StrCat(options.count),
      "--seed",    absl::StrCat(options.seed),
      "--only",    options.only,
      "--threads", absl::StrCat(options.threads),
      "--trials",  absl::StrCat(options.trials),
      "--rounds",  absl::StrCat(options.rounds),
      "--limit",   absl::StrCat(options.limit)};
  if (options.compile) arguments.push_back("--compile");
  if (!options.resume.empty()) arguments.push_back("--resume");
  return RunScript(options.python, "kernel_sweep.py", std::move(arguments),
                   options.resume, out);
}

}  // namespace hone::bench

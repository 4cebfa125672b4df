#include "bench/python_script.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/json_file.h"

namespace hone::bench {

absl::StatusOr<int> RunProcess(ChildProcessOptions options, std::ostream& out) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError("no pipe");
  options.output = ends[1];
  const absl::StatusOr<pid_t> child = StartChildProcess(options);
  close(ends[1]);
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(ends[0], buffer, sizeof(buffer))) > 0) {
    out.write(buffer, size).flush();
  }
  close(ends[0]);
  HONE_RETURN_IF_ERROR(child.status());
  int status = 0;
  waitpid(*child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return absl::FailedPreconditionError(
      absl::StrCat(options.program, " failed"));
}

absl::Status CheckPython(const std::string& python, const std::string& modules,
                         std::ostream& out) {
  const absl::StatusOr<int> status =
      RunProcess({.program = python,
                  .arguments = {"-c", absl::StrCat("import ", modules)}},
                 out);
  if (status.ok() && *status == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("--python ", python, ": expected a Python with ", modules));
}

absl::Status CheckRounds(int32_t rounds) {
  // Fewer samples have no 95 % interval.
  constexpr int32_t kLeastRounds = 6;
  if (rounds >= kLeastRounds && rounds % 2 == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--rounds ", rounds,
                   ": expected an even number of at least ", kLeastRounds));
}

absl::StatusOr<nlohmann::ordered_json> RunScript(
    const std::string& python, const std::string& script,
    std::vector<std::string> arguments, const std::string& result,
    std::ostream& out) {
  const TemporaryDirectory temporary;
  const std::string path =
      result.empty() ? temporary.path() + "/result.json" : result;
  std::error_code error;
  const std::string hone =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string file = absl::StrCat("bench/kernels/", script);
  arguments.insert(arguments.begin(), file);
  arguments.insert(arguments.end(), {"--hone", hone, "-o", path});
  HONE_ASSIGN_OR_RETURN(
      const int status,
      RunProcess({.program = python, .arguments = std::move(arguments)}, out));
  // Status 1: there are failures among the rows, or in the script.
  if (status == 0 || status == 1) {
    absl::StatusOr<nlohmann::ordered_json> document =
        ReadJsonFile(path, absl::StrCat("what ", script, " writes"));
    if (document.ok() && document->value("complete", false)) return document;
  }
  // Status 2: it has said what is wrong with its arguments.
  return absl::FailedPreconditionError(absl::StrCat(
      script, " ended with status ", status,
      status == 2 && std::filesystem::exists(file, error)
          ? ""
          : ", expected Hone's source tree as the working directory"));
}

}  // namespace hone::bench

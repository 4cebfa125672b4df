#ifndef HONE_BASE_CHILD_PROCESS_H_
#define HONE_BASE_CHILD_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <sys/types.h>

namespace hone {

struct ChildProcessOptions {
  // The path of the executable, or its name if PATH leads to it.
  std::string program;
  // Arguments after the program's name.
  std::vector<std::string> arguments = {};
  // "NAME=value"; overrides this process's variables of the same names.
  std::vector<std::string> environment = {};
  // File descriptors of this process that are the child's standard input and
  // output.
  int input = 0;
  int output = 1;
};

// Starts a process; the caller waits for its end. Besides the two descriptors
// it inherits those that are not close-on-exec.
// Errors: Internal if it cannot be started.
absl::StatusOr<pid_t> StartChildProcess(const ChildProcessOptions& options);

}  // namespace hone

#endif  // HONE_BASE_CHILD_PROCESS_H_

#ifndef HONE_BASE_CHILD_PROCESS_H_
#define HONE_BASE_CHILD_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <sys/types.h>

namespace hone {

struct ChildProcessOptions {
  // The path of the executable, or its name where PATH leads to it.
  std::string program;
  // Behind its name.
  std::vector<std::string> arguments = {};
  // "NAME=value", in place of this process's variables of the same names.
  std::vector<std::string> environment = {};
  // File descriptors of this process that are the child's standard input and
  // output.
  int input = 0;
  int output = 1;
};

// Starts a process; whoever calls waits for its end. Besides the two
// descriptors it gets those that are not close-on-exec.
// Errors: Internal when it cannot be started.
absl::StatusOr<pid_t> StartChildProcess(const ChildProcessOptions& options);

}  // namespace hone

#endif  // HONE_BASE_CHILD_PROCESS_H_

#ifndef HONE_TESTS_DAEMON_CHILD_PROCESSES_H_
#define HONE_TESTS_DAEMON_CHILD_PROCESSES_H_

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/types.h>
#include <sys/wait.h>

namespace hone::testing {

// The children of this process.
inline std::vector<pid_t> ChildProcesses() {
  std::vector<pid_t> pids;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t pid = 0; children >> pid;) pids.push_back(pid);
  }
  return pids;
}

// Waits for the end of a child, which may be reaped meanwhile. /proc shows one
// as a zombie while its other threads still end.
inline void AwaitEnd(pid_t child) {
  siginfo_t ended = {};
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) !=
             0 &&
         errno == EINTR) {
  }
}

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_CHILD_PROCESSES_H_

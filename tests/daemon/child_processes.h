#ifndef HONE_TESTS_DAEMON_CHILD_PROCESSES_H_
#define HONE_TESTS_DAEMON_CHILD_PROCESSES_H_

#include <filesystem>
#include <fstream>
#include <vector>

#include <sys/types.h>

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

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_CHILD_PROCESSES_H_

#ifndef HONE_TESTS_DAEMON_CHILD_PROCESSES_H_
#define HONE_TESTS_DAEMON_CHILD_PROCESSES_H_

#include <filesystem>
#include <fstream>
#include <string>
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

// Returns false once the process has ended, reaped or not.
inline bool IsRunning(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  // "PID (NAME) STATE …", where the name may have parentheses.
  const size_t state = text.rfind(')') + 2;
  return state < text.size() && text[state] != 'Z' && text[state] != 'X';
}

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_CHILD_PROCESSES_H_

#include "base/child_process.h"

#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace hone {
namespace {

// Pointers to strings as C functions take them. They do not write to them.
std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) {
    pointers.push_back(const_cast<char*>(string.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(std::vector<std::string> variables) {
  const size_t own = variables.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool is_replaced = false;
    for (size_t i = 0; i < own; ++i) {
      const absl::string_view variable = variables[i];
      is_replaced |=
          absl::StartsWith(*entry, variable.substr(0, variable.find('=') + 1));
    }
    if (!is_replaced) variables.emplace_back(*entry);
  }
  return variables;
}

}  // namespace

absl::StatusOr<pid_t> StartChildProcess(const ChildProcessOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.begin(), options.program);
  const std::vector<std::string> environment = Environment(options.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, options.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, options.output, STDOUT_FILENO);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, options.program.c_str(), &actions, nullptr,
                   Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return absl::InternalError(
      absl::StrCat("cannot start ", options.program, ": ",
                   std::generic_category().message(error)));
}

}  // namespace hone

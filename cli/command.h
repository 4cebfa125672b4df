#ifndef HONE_CLI_COMMAND_H_
#define HONE_CLI_COMMAND_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "hlo/ir/module.h"

namespace hone::cli {

// Exit statuses of every command.
enum ExitStatus {
  kDone = 0,
  kAnswerIsNo = 1,  // not equivalent, miss
  kBadInput = 2,    // usage or input
  kFailed = 3,      // the daemon, a worker, or Hone itself
};

inline constexpr absl::string_view kDefaultServer = "127.0.0.1:7420";

// The state that all commands share.
struct Context {
  // Options common to all commands.
  bool json = false;
  std::string server;

  int exit_status = kDone;
};

// Returns the exit status for an error.
int ExitStatusOf(const absl::Status& status);

// Runs `body`, which returns an exit status or an error; an error is printed as
// one line on stderr.
void RunCommand(Context& context,
                const std::function<absl::StatusOr<int>()>& body);

// Adds a subcommand with the options every command has.
CLI::App* AddCommand(CLI::App& app, Context& context, const std::string& name,
                     const std::string& description);

// Adds --numerics to a command; `value` holds the default.
void AddNumericsOption(CLI::App& command, std::string& value);

// Prints one JSON document on stdout.
void PrintJson(const nlohmann::ordered_json& document);

// Writes `module` to `path`: as a proto when it ends in .pb, else as text; to
// stdout as text when the path is empty or "-".
// Errors: InvalidArgument when the file cannot be written.
absl::Status WriteModule(const hlo::Module& module, const std::string& path);

#define HONE_COMMAND(function) void function(CLI::App& app, Context& context);
#include "cli/commands.def"
#undef HONE_COMMAND

}  // namespace hone::cli

#endif  // HONE_CLI_COMMAND_H_

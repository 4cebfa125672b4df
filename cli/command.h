#ifndef HONE_CLI_COMMAND_H_
#define HONE_CLI_COMMAND_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cli/connection.h"
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

// Limits of numeric options: of counts that have no narrower one, of threads,
// and of seeds.
inline constexpr uint64_t kMaxCount = 1'000'000'000;
inline constexpr uint64_t kMaxThreads = 1024;
inline constexpr uint64_t kMaxSeed = std::numeric_limits<uint64_t>::max();

// The state that all commands share.
struct Context : Connection {
  // Options common to all commands.
  bool json = false;

  int exit_status = kDone;
};

// Returns the exit status for an error.
int ExitStatusOf(const absl::Status& status);

// Runs `body`, which returns an exit status or an error; an error is printed as
// one line on stderr.
void RunCommand(Context& context,
                const std::function<absl::StatusOr<int>()>& body);

// Adds a subcommand that takes --json.
CLI::App* AddCommand(CLI::App& app, Context& context, const std::string& name,
                     const std::string& description);

// Adds the required argument `name`, the path of a module.
void AddModuleArgument(CLI::App& command, const std::string& name,
                       std::string& value);
// The same for the path of a module or a graph.
void AddSubjectArgument(CLI::App& command, const std::string& name,
                        std::string& value);

// Adds --numerics to a command; `value` holds the default.
void AddNumericsOption(CLI::App& command, std::string& value);

// Returns the transformation of an option that takes a whole number: refuses
// anything but decimal digits, and numbers below `min` or above `max`. CLI11's
// own checks accept octal numbers, and limit those that do not fit.
CLI::Validator WholeNumber(uint64_t min, uint64_t max);

// Adds --time-limit, seconds above 0 after which the evaluator stops.
void AddTimeLimitOption(CLI::App& command, double& seconds);

// Parses `text`, the value of `option`. Errors: InvalidArgument unless it is a
// finite duration above 0, or of 0 if `zero_allowed`.
absl::StatusOr<absl::Duration> ParseDurationOption(absl::string_view option,
                                                   const std::string& text,
                                                   bool zero_allowed = false);

// Checks that a file can be written at `path`, so that a command fails before
// its work and not after it. Errors: InvalidArgument.
absl::Status CheckWritable(const std::string& path);

// Checks the path that will be passed to WriteModule. Errors: those of
// CheckWritable; InvalidArgument if the module would go to stdout, as JSON
// does.
absl::Status CheckModuleOutput(const Context& context, const std::string& path);

// Prints one JSON document on stdout.
void PrintJson(const nlohmann::ordered_json& document);

// Writes `module` to `path`: as a proto when it ends in .pb, else as text,
// either compressed when .zst follows; to stdout as text when the path is empty
// or "-".
// Errors: those of WriteFileAtomically.
absl::Status WriteModule(const hlo::Module& module, const std::string& path);

#define HONE_COMMAND(function) void function(CLI::App& app, Context& context);
#include "cli/commands.def"
#undef HONE_COMMAND

}  // namespace hone::cli

#endif  // HONE_CLI_COMMAND_H_

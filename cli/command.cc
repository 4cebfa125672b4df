#include "cli/command.h"

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/memory_note.h"
#include <unistd.h>

#include "base/files.h"
#include "base/status_macros.h"
#include "hlo/proto/io.h"
#include "hlo/text/printer.h"
#include "storage/sqlite/compression.h"

namespace hone::cli {
namespace {

bool GoesToStdout(const std::string& path) {
  return path.empty() || path == "-";
}

void AddPathArgument(CLI::App& command, const std::string& name,
                     std::string& value, const std::string& description) {
  command.add_option(name, value, description)
      ->required()
      ->check([](const std::string& path) -> std::string {
        return path.empty() ? "'', expected the path of a module" : "";
      });
}

}  // namespace

int ExitStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return kBadInput;
    default:
      return kFailed;
  }
}

void RunCommand(Context& context,
                const std::function<absl::StatusOr<int>()>& body) {
  const absl::Status credentials = ReadCredentials(context);
  const absl::StatusOr<int> status =
      credentials.ok() ? body() : absl::StatusOr<int>(credentials);
  if (status.ok()) {
    context.exit_status = *status;
    return;
  }
  std::cerr << "hone: " << status.status().message() << "\n";
  context.exit_status = ExitStatusOf(status.status());
}

CLI::App* AddCommand(CLI::App& app, Context& context, const std::string& name,
                     const std::string& description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_flag("--json", context.json, "One JSON document on stdout");
  const std::string group =
      app.get_parent() == nullptr ? "" : absl::StrCat(app.get_name(), " ");
  command->preparse_callback(
      [work = absl::StrCat("running hone ", group, name)](size_t) {
        NoteWork(work);
      });
  return command;
}

void AddModuleArgument(CLI::App& command, const std::string& name,
                       std::string& value) {
  AddPathArgument(command, name, value, "HLO text or HloModuleProto");
}

void AddSubjectArgument(CLI::App& command, const std::string& name,
                        std::string& value) {
  AddPathArgument(command, name, value,
                  "HLO text, HloModuleProto or a graph in JSON");
}

void AddNumericsOption(CLI::App& command, std::string& value) {
  command
      .add_option("--numerics", value,
                  "How far rewrites may change results: exact, reassociate "
                  "(rounding) or fast (also overflow and NaN)")
      ->capture_default_str();
}

CLI::Validator WholeNumber(uint64_t min, uint64_t max) {
  const auto normalize = [=](std::string& text) -> std::string {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < min || number > max) {
      return absl::StrCat("'", text, "', expected a whole number from ", min,
                          " to ", max);
    }
    text = absl::StrCat(number);
    return "";
  };
  return CLI::Validator(normalize, max == kMaxSeed
                                       ? absl::StrCat(min, " or more")
                                       : absl::StrCat(min, " to ", max));
}

void AddTimeLimitOption(CLI::App& command, double& seconds) {
  const auto error_of = [](const std::string& text) -> std::string {
    double number = 0;
    if (absl::SimpleAtod(text, &number) && number > 0) return "";
    return absl::StrCat("'", text, "', expected a number above 0");
  };
  command
      .add_option("--time-limit", seconds,
                  "Seconds after which an evaluation stops")
      ->check(CLI::Validator(error_of, "above 0"))
      ->capture_default_str();
}

absl::StatusOr<absl::Duration> ParseDurationOption(absl::string_view option,
                                                   const std::string& text,
                                                   bool zero_allowed) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) ||
      duration < absl::ZeroDuration() || duration == absl::InfiniteDuration() ||
      (duration == absl::ZeroDuration() && !zero_allowed)) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, " '", text, "': expected a duration ",
        zero_allowed ? "of 0 or more" : "above 0", ", such as 2s or 5m"));
  }
  return duration;
}

absl::Status CheckWritable(const std::string& path) {
  namespace fs = std::filesystem;
  // As WriteFileAtomically: devices are written to, files are replaced, and
  // the file that a link leads to is.
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  const fs::path file = error ? fs::path(path) : target;
  const fs::path folder =
      file.has_parent_path() ? file.parent_path() : fs::path(".");
  int failure = 0;
  if (fs::is_directory(file, error)) {
    failure = EISDIR;
  } else if (access(fs::is_other(file, error) ? file.c_str() : folder.c_str(),
                    W_OK) != 0) {
    failure = errno;
  } else if (!fs::is_other(file, error) && !fs::is_directory(folder, error)) {
    failure = ENOTDIR;
  }
  if (failure == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": cannot be written: ", std::generic_category().message(failure),
      ", expected a file in a folder that can be written to"));
}

absl::Status CheckModuleOutput(const Context& context,
                               const std::string& path) {
  if (!GoesToStdout(path)) return CheckWritable(path);
  if (!context.json) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--json needs -o FILE: the module would go to stdout, too");
}

void PrintJson(const nlohmann::ordered_json& document) {
  // Paths may have any bytes.
  std::cout << document.dump(2, ' ', /*ensure_ascii=*/false,
                             nlohmann::json::error_handler_t::replace)
            << "\n";
}

absl::Status WriteModule(const hlo::Module& module, const std::string& path) {
  absl::string_view form = path;
  const bool is_compressed = absl::ConsumeSuffix(&form, ".zst");
  std::string bytes;
  if (absl::EndsWith(form, ".pb")) {
    HONE_ASSIGN_OR_RETURN(bytes, hlo::SerializeHloProto(module));
  } else {
    bytes = hlo::PrintModule(module);
  }
  if (GoesToStdout(path)) {
    std::cout << bytes;
    return absl::OkStatus();
  }
  if (is_compressed) {
    HONE_ASSIGN_OR_RETURN(bytes, storage::Compress(bytes));
  }
  return WriteFileAtomically(path, bytes);
}

}  // namespace hone::cli

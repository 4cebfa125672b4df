#include "cli/command.h"

#include <iostream>

#include "absl/strings/match.h"

#include "base/files.h"
#include "base/status_macros.h"
#include "hlo/proto/io.h"
#include "hlo/text/printer.h"

namespace hone::cli {

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
  const absl::StatusOr<int> status = body();
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
  return command;
}

void AddNumericsOption(CLI::App& command, std::string& value) {
  command
      .add_option("--numerics", value,
                  "How far rewrites may change results: exact, reassociate "
                  "(rounding) or fast (also overflow and NaN)")
      ->capture_default_str();
}

void PrintJson(const nlohmann::ordered_json& document) {
  std::cout << document.dump(2) << "\n";
}

absl::Status WriteModule(const hlo::Module& module, const std::string& path) {
  if (absl::EndsWith(path, ".pb")) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes,
                          hlo::SerializeHloProto(module));
    return WriteFileAtomically(path, bytes);
  }
  const std::string text = hlo::PrintModule(module);
  if (!path.empty() && path != "-") return WriteFileAtomically(path, text);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace hone::cli

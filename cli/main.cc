// hone: the command line.

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/command.h"
#include "cli/memory_note.h"

#include "base/processor.h"

namespace hone::cli {
namespace {

constexpr char kVersion[] = "hone " HONE_VERSION;

// Returns the message of `error`. CLI11 does not say which command is unknown,
// nor which there are.
std::string Describe(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    absl::StrAppend(&path, command->get_name(), " ");
  }
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr ||
      command->get_require_subcommand_min() == 0) {
    return error.what();
  }
  if (!rest.empty() && absl::StartsWith(rest.front(), "-")) {
    return absl::StrCat("unknown option '", rest.front(), "'");
  }
  const std::vector<const CLI::App*> known = command->get_subcommands(
      [](const CLI::App* listed) { return !listed->get_group().empty(); });
  return absl::StrCat(
      rest.empty() ? absl::StrCat("no ", path, "command")
                   : absl::StrCat("unknown command '", path, rest.front(), "'"),
      ", expected one of: ",
      absl::StrJoin(known, ", ", [](std::string* out, const CLI::App* listed) {
        absl::StrAppend(out, listed->get_name());
      }));
}

// Returns `status`, or kFailed if the output of a command that succeeded could
// not be written.
int Finish(int status) {
  std::cout.flush();
  if (std::cout || status > kAnswerIsNo) return status;
  std::cerr << "hone: stdout: cannot be written, expected an open stream with "
               "space\n";
  return kFailed;
}

void AddConnectionOptions(CLI::App& app, Connection& connection) {
  app.add_option("--server", connection.server,
                 "honed's address, HOST:PORT or unix:PATH (default: the socket "
                 "in your state folder, else " +
                     std::string(kDefaultTcpServer) + ")")
      ->envname("HONE_SERVER")
      ->check([](const std::string& server) -> std::string {
        return server.empty() ? "'', expected HOST:PORT or unix:PATH" : "";
      });
  app.add_option("--token-file", connection.token_file,
                 "File with your token for honed")
      ->envname("HONE_TOKEN_FILE");
  app.add_option("--tls-ca", connection.tls_ca,
                 "Certificates (PEM) that sign honed's; turns TLS on")
      ->envname("HONE_TLS_CA");
  app.add_option("--tls-cert", connection.tls_cert,
                 "Your certificate (PEM), if honed asks for one")
      ->envname("HONE_TLS_CERT");
  app.add_option("--tls-key", connection.tls_key, "Its private key (PEM)")
      ->envname("HONE_TLS_KEY");
}

int Main(int argc, char** argv) {
  if (const absl::Status isa = CheckIsa(IsaVariable()); !isa.ok()) {
    std::cerr << "hone: " << isa.message() << "\n";
    return kBadInput;
  }
  CLI::App app("Hone tunes the decisions that ML compilers guess at.");
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  Context context;
  AddConnectionOptions(app, context);
  app.fallthrough();
#define HONE_COMMAND(function) function(app, context);
#include "cli/commands.def"
#undef HONE_COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Asking for help or the version is no error.
    if (error.get_exit_code() == 0) return Finish(app.exit(error));
    std::cerr << "hone: " << Describe(app, error) << " (see hone --help)\n";
    return kBadInput;
  }
  return Finish(context.exit_status);
}

}  // namespace
}  // namespace hone::cli

int main(int argc, char** argv) {
  hone::cli::EndWhenMemoryRunsOut();
  return hone::cli::Main(argc, argv);
}

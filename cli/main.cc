// hone: the command line.

#include <iostream>

#include "cli/command.h"

namespace hone::cli {
namespace {

constexpr char kVersion[] = "hone " HONE_VERSION;

int Main(int argc, char** argv) {
  CLI::App app("Hone tunes the decisions that ML compilers guess at.");
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  Context context;
  context.server = std::string(kDefaultServer);
  app.add_option("--server", context.server, "HOST:PORT of honed")
      ->envname("HONE_SERVER")
      ->capture_default_str();
  app.fallthrough();
#define HONE_COMMAND(function) function(app, context);
#include "cli/commands.def"
#undef HONE_COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Asking for help or the version is no error.
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "hone: " << error.what() << " (see hone --help)\n";
    return kBadInput;
  }
  std::cout.flush();
  return context.exit_status;
}

}  // namespace
}  // namespace hone::cli

int main(int argc, char** argv) { return hone::cli::Main(argc, argv); }

// hone measure: the process of a worker that runs candidates; internal.

#include "cli/command.h"
#include <unistd.h>

#include "backends/process/serve_measurements.h"
#include "base/status_macros.h"

namespace hone::cli {

void AddMeasureCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "measure",
      "Measure for a worker: reads work from stdin, writes results to stdout");
  command->group("");  // Left out of hone --help.
  command->callback([&context] {
    RunCommand(context, []() -> absl::StatusOr<int> {
      HONE_RETURN_IF_ERROR(
          backends::ServeMeasurements(STDIN_FILENO, STDOUT_FILENO));
      return kDone;
    });
  });
}

}  // namespace hone::cli

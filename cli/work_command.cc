// hone work: a process that computes for the daemon; internal.

#include <cstdint>
#include <memory>

#include "cli/command.h"
#include <unistd.h>

#include "work/serve_work.h"

namespace hone::cli {

void AddWorkCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "work",
      "Work for honed: reads jobs from stdin, writes results to stdout");
  command->group("");  // Left out of hone --help.
  auto memory_bytes = std::make_shared<int64_t>(0);
  command->add_option("--memory", *memory_bytes,
                      "Bytes that may be allocated (default: no limit)");
  command->callback([memory_bytes, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      work::ServeWork(STDIN_FILENO, STDOUT_FILENO, *memory_bytes);
    });
  });
}

}  // namespace hone::cli

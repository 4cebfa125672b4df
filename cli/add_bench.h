#ifndef HONE_CLI_ADD_BENCH_H_
#define HONE_CLI_ADD_BENCH_H_

#include <iostream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/command.h"
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/status_macros.h"

namespace hone::cli {

inline int AlwaysDone(const nlohmann::ordered_json&) { return kDone; }

// Adds the bench `name`: `add_options` adds the options that only it has, `run`
// prints its table to the stream and returns the same as JSON, and `status_of`
// makes an exit status of that. The table goes to stdout; with --json it goes
// to stderr, and the document to stdout. With --output the document goes to
// that file too.
template <typename Options>
void AddBench(CLI::App& parent, Context& context, const std::string& name,
              const std::string& description,
              void (*add_options)(CLI::App&, Options&),
              absl::StatusOr<nlohmann::ordered_json> (*run)(const Options&,
                                                            std::ostream&),
              int (*status_of)(const nlohmann::ordered_json&) = AlwaysDone) {
  struct Arguments {
    Options options;
    std::string output;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = AddCommand(parent, context, name, description);
  add_options(*command, arguments->options);
  command->add_option("-o,--output", arguments->output, "JSON file");
  command->callback([arguments, run, status_of, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      if (!arguments->output.empty()) {
        HONE_RETURN_IF_ERROR(CheckWritable(arguments->output));
      }
      HONE_ASSIGN_OR_RETURN(
          const nlohmann::ordered_json document,
          run(arguments->options, context.json ? std::cerr : std::cout));
      if (context.json) PrintJson(document);
      if (!arguments->output.empty()) {
        HONE_RETURN_IF_ERROR(
            WriteFileAtomically(arguments->output, document.dump(1) + "\n"));
      }
      return status_of(document);
    });
  });
}

}  // namespace hone::cli

#endif  // HONE_CLI_ADD_BENCH_H_

// hone graph: the weighted graph that placement sees.

#include <iostream>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/read_subject.h"

#include "base/files.h"
#include "base/status_macros.h"
#include "graphs/device_graph_json.h"
#include "hlo/read_module.h"
#include "tuning/registry.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  std::string output;
};

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_RETURN_IF_ERROR(CheckModuleOutput(context, options.output));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const placement,
                        tuning::FindTask("placement"));
  HONE_ASSIGN_OR_RETURN(const std::string bytes,
                        hlo::ReadFileBytes(options.file));
  HONE_ASSIGN_OR_RETURN(const tuning::Subject subject,
                        ReadSubject(bytes, options.file, *placement));
  const std::string text = subject.Print();
  if (options.output.empty() || options.output == "-") {
    std::cout << text;
  } else {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(options.output, text));
  }
  if (context.json) {
    PrintJson({{"graph", subject.name()},
               {"fingerprint", subject.Fingerprint()},
               {"nodes", subject.graph().size()},
               {"edges", subject.graph().edges().size()},
               {"output", options.output}});
  }
  return kDone;
}

}  // namespace

void AddGraphCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "graph", "Write the weighted graph that placement sees");
  command->add_option("FILE", options->file, "Graph in JSON")->required();
  command->add_option("-o,--output", options->output,
                      "Path of the graph in JSON; default: stdout");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli

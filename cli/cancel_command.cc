// hone cancel: ends a tuning of the daemon for good.

#include <iostream>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/tuning_text.h"

#include "base/status_macros.h"

namespace hone::cli {
namespace {

absl::StatusOr<int> Run(const std::string& name, const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hone::v1::Tuning tuning,
                        Client(context).CancelTuning(name));
  if (context.json) {
    PrintJson(TuningToJson(tuning));
  } else {
    std::cout << TuningToText(tuning) << "\n";
  }
  return kDone;
}

}  // namespace

void AddCancelCommand(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      app, context, "cancel",
      "Cancel a tuning of the daemon for good; nothing is published");
  command
      ->add_option("NAME", *name, "tunings/ID, as hone list tunings prints it")
      ->required();
  command->callback([name, &context] {
    RunCommand(context, [&] { return Run(*name, context); });
  });
}

}  // namespace hone::cli

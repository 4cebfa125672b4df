// hone cancel: leaves a tuning of the daemon, or ends it for good.

#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/tuning_text.h"

#include "base/status_macros.h"

namespace hone::cli {
namespace {

absl::StatusOr<int> Run(const hone::v1::CancelTuningRequest& request,
                        const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hone::v1::CancelTuningResponse response,
                        Client(context).CancelTuning(request));
  if (context.json) {
    nlohmann::ordered_json document = TuningToJson(response.tuning());
    document["shares_left"] = response.shares_left();
    PrintJson(document);
    return kDone;
  }
  std::cout << TuningToText(response.tuning()) << "\n";
  if (response.shares_left() > 0) {
    std::cout << absl::StrFormat(
        "it goes on for %d others; --force ends it for them, too\n",
        response.shares_left());
  }
  return kDone;
}

}  // namespace

void AddCancelCommand(CLI::App& app, Context& context) {
  auto request = std::make_shared<hone::v1::CancelTuningRequest>();
  CLI::App* command = AddCommand(
      app, context, "cancel",
      "Leave a tuning of the daemon; it ends for good once all have left it");
  command
      ->add_option("NAME", *request->mutable_name(),
                   "Its name, as hone list tunings prints it")
      ->required();
  command->add_flag_callback(
      "--force", [request] { request->set_force(true); },
      "End it for all who share it (needs the role admin)");
  command->callback([request, &context] {
    RunCommand(context, [&] { return Run(*request, context); });
  });
}

}  // namespace hone::cli

#include "cli/train_cost_ensemble.h"

#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/distinct_files.h"

#include "base/files.h"
#include "base/status_macros.h"
#include "optimizers/policies/library.h"
#include "tuning/read_cost_model.h"

namespace hone::cli {
namespace {

struct Options {
  std::vector<std::string> members;
  std::string output = "cost_ensemble.pt";
};

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  std::vector<NamedPath> inputs;
  for (const std::string& member : options.members) {
    inputs.push_back({"MEMBER", member});
  }
  HONE_RETURN_IF_ERROR(CheckDistinctFiles({{"-o", options.output}}, inputs));
  HONE_RETURN_IF_ERROR(CheckWritable(options.output));
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  std::set<std::string> seen;
  std::vector<std::unique_ptr<learning::CostPredictor>> members;
  for (const std::string& path : options.members) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, tuning::ReadWeights(path));
    if (!seen.insert(bytes).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": the same weights twice, expected those of other seeds"));
    }
    auto member = library->parse_cost_model(bytes, nullptr);
    if (!member.ok()) {
      return absl::Status(member.status().code(),
                          absl::StrCat(path, ": ", member.status().message()));
    }
    if (!members.empty() && (*member)->spec() != members[0]->spec()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": predicts something else, or from other features, than ",
          options.members[0], ", expected models of one kind of kernel"));
    }
    members.push_back(*std::move(member));
  }
  const size_t count = members.size();
  const std::string bytes =
      library->join_cost_models(std::move(members))->Serialize();
  HONE_RETURN_IF_ERROR(WriteFileAtomically(options.output, bytes));
  if (context.json) {
    PrintJson({{"weights", options.output},
               {"members", count},
               {"bytes", bytes.size()}});
  } else {
    std::cout << absl::StrCat(options.output, ": ", count, " models, ",
                              bytes.size(), " bytes\n");
  }
  return kDone;
}

}  // namespace

void AddTrainCostEnsembleCommand(CLI::App& train, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      train, context, "cost-ensemble",
      "Join cost models of different seeds into one that predicts their mean");
  command
      ->add_option("MEMBER", options->members,
                   "Weights that `hone train cost-model` wrote")
      ->required();
  command
      ->add_option("-o,--output", options->output, "File of the joined weights")
      ->capture_default_str();
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli

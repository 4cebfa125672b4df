#ifndef HONE_CLI_TRAIN_COST_ENSEMBLE_H_
#define HONE_CLI_TRAIN_COST_ENSEMBLE_H_

#include "cli/command.h"

namespace hone::cli {

// Adds `hone train cost-ensemble`: joins cost models that were trained apart.
void AddTrainCostEnsembleCommand(CLI::App& train, Context& context);

}  // namespace hone::cli

#endif  // HONE_CLI_TRAIN_COST_ENSEMBLE_H_

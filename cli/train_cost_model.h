#ifndef HONE_CLI_TRAIN_COST_MODEL_H_
#define HONE_CLI_TRAIN_COST_MODEL_H_

#include "cli/command.h"

namespace hone::cli {

// Adds `hone train cost-model` to `hone train`.
void AddTrainCostModelCommand(CLI::App& train, Context& context);

}  // namespace hone::cli

#endif  // HONE_CLI_TRAIN_COST_MODEL_H_

#ifndef HONE_CLI_PREDICT_KERNEL_H_
#define HONE_CLI_PREDICT_KERNEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/command.h"

namespace hone::cli {

struct PredictKernelOptions {
  // HLO or, if its name ends in ".loops", the text of a loop program.
  std::string file;
  // A file with a schedule besides the default; empty: none.
  std::string script;
  // Weights of the model; empty: the one that comes with Hone.
  std::string weights;
  int32_t threads = 1;
  bool measures = true;
};

// Predicts the times of a kernel on this machine by its default schedule and by
// a script, measures them, and prints both. Errors: those of reading kernel,
// script and weights, of lowering, and of the measurer.
absl::StatusOr<int> PredictKernel(const PredictKernelOptions& options,
                                  const Context& context);

}  // namespace hone::cli

#endif  // HONE_CLI_PREDICT_KERNEL_H_

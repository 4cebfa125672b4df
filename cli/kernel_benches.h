#ifndef HONE_CLI_KERNEL_BENCHES_H_
#define HONE_CLI_KERNEL_BENCHES_H_

#include "cli/command.h"

namespace hone::cli {

// Adds the benches of kernels and of whole modules as native code to
// `hone bench`.
void AddKernelBenches(CLI::App& bench, Context& context);

}  // namespace hone::cli

#endif  // HONE_CLI_KERNEL_BENCHES_H_

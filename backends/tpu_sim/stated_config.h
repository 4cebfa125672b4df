#ifndef HONE_BACKENDS_TPU_SIM_STATED_CONFIG_H_
#define HONE_BACKENDS_TPU_SIM_STATED_CONFIG_H_

#include <optional>
#include <string>

#include "hlo/ir/instruction.h"
#include "hlo/tiles/kernel_config.h"

namespace hone::backends {

// The configuration of a kernel as a tuned module states it, a frontend
// attribute of the kernel's instruction:
//
//   frontend_attributes={hone_tile="output=8,128 order=row buffers=2 unroll=4"}

// Returns the text of the configuration that an instruction states
// (hlo::ParseKernelConfig); nothing if it states none.
std::optional<std::string> StatedConfig(const hlo::Instruction& instruction);

// Writes it, beside the frontend attributes that the instruction has and in
// place of an earlier configuration.
void StateConfig(const hlo::KernelConfig& config,
                 hlo::Instruction& instruction);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_STATED_CONFIG_H_

#ifndef HONE_BASE_PROCESSOR_H_
#define HONE_BASE_PROCESSOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone {

// Returns the model of this machine's processor as the system prints it; empty
// if it prints none.
std::string ProcessorModel();

// Returns the environment variable HONE_CPU_ISA, which limits the instruction
// sets of native code; empty if it is not set.
std::string IsaVariable();

// Returns InvalidArgument unless `isa` is empty, "native" or "avx2", as
// HONE_CPU_ISA has to be.
absl::Status CheckIsa(absl::string_view isa);

}  // namespace hone

#endif  // HONE_BASE_PROCESSOR_H_

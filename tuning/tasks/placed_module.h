#ifndef HONE_TUNING_TASKS_PLACED_MODULE_H_
#define HONE_TUNING_TASKS_PLACED_MODULE_H_

#include <cstdint>

#include "absl/types/span.h"

#include "graphs/hlo_import.h"
#include "hlo/ir/module.h"

namespace hone::tuning {

// Returns `module` with `sharding={maximal device=N}` on every instruction of
// its entry computation, as compilers read a placement; shardings that it had
// are replaced. `imported` is the module's, `devices` of its nodes.
// Instructions without a node go with the value that they pass on, arguments
// and constants with their first reader.
hlo::Module WithDevices(const hlo::Module& module,
                        const graphs::ImportedHlo& imported,
                        absl::Span<const int32_t> devices);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PLACED_MODULE_H_

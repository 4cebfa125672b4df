#ifndef HONE_BACKENDS_CPU_EXPORT_DONATIONS_H_
#define HONE_BACKENDS_CPU_EXPORT_DONATIONS_H_

#include <vector>

#include "backends/cpu/entry_emitter.h"
#include "hlo/ir/module.h"

namespace hone::backends {

// Returns the pairs of a module's input_output_alias, by the numbers of arrays
// with tuples flattened. The header must be valid (hlo/inference/aliases.h).
std::vector<EntryAlias> DonatedPairs(const hlo::Module& module);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_EXPORT_DONATIONS_H_

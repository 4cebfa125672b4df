#ifndef HONE_HLO_EQUIVALENCE_INTERFACE_H_
#define HONE_HLO_EQUIVALENCE_INTERFACE_H_

#include <optional>
#include <string>

#include "hlo/ir/module.h"

namespace hone::hlo {

// Compares what callers of a module see beside its values: the layouts of
// parameters and result, aliases, numbers of devices and further attributes of
// the header, the attributes of parameters (sharding, replication), and the
// sharding of the result. What is left out has its default value, a layout too.
// is_scheduled, frontend attributes of the module and origins do not count.
// Returns what differs; nullopt if nothing does.
std::optional<std::string> InterfaceDifference(const Module& a,
                                               const Module& b);

// The first difference that shows before any value is computed: of the
// interfaces, the side effects (effects.h) or the promises (promises.h).
// Nullopt if there is none. The rules are in docs/VERIFICATION.md.
std::optional<std::string> StaticDifference(const Module& a, const Module& b);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_INTERFACE_H_

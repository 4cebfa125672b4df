#ifndef HONE_HLO_REWRITE_CALL_SITES_H_
#define HONE_HLO_REWRITE_CALL_SITES_H_

#include "hlo/ir/module.h"

namespace hone::hlo {

// Whether the instruction has a sharding. That of a tuple has a part for each
// element, in text that passes do not look into.
bool IsSharded(const Instruction& instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_CALL_SITES_H_

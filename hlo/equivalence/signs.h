#ifndef HONE_HLO_EQUIVALENCE_SIGNS_H_
#define HONE_HLO_EQUIVALENCE_SIGNS_H_

#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// The parameters of the entry that probably have to be non-negative: elements
// of them are under a root, a logarithm or a power, as they are or after
// operations that compute or move element by element. A second moment of Adam
// is such a parameter. Others may have to be non-negative, too.
std::vector<bool> ParametersUnderRoots(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_SIGNS_H_

#ifndef HONE_HLO_ANALYSIS_FINGERPRINT_H_
#define HONE_HLO_ANALYSIS_FINGERPRINT_H_

#include <string>

#include "base/hash.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// The content address of a module: SHA-256 (hexadecimal) over a canonical form
// that leaves out names, ids, metadata, the order of instructions (unless the
// module is scheduled) and everything that only printing decides, and nothing
// else. Elided constants count as distinct by their order.
std::string Fingerprint(const Module& module);

// A 128-bit hash of the same canonical form, for memo tables: several times
// faster.
Hash128 FastFingerprint(const Module& module);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_FINGERPRINT_H_

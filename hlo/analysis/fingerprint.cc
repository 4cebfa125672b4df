#include "hlo/analysis/fingerprint.h"

#include "hlo/analysis/canonical.h"

namespace hone::hlo {

std::string Fingerprint(const Module& module) {
  return Sha256Hex(CanonicalForm(module));
}

Hash128 FastFingerprint(const Module& module) {
  return FastHash(CanonicalForm(module));
}

}  // namespace hone::hlo

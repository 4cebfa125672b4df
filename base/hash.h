#ifndef HONE_BASE_HASH_H_
#define HONE_BASE_HASH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hone {

// 128-bit non-cryptographic hash (XXH3), for memo tables and checksums.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Hash128& value) {
    return H::combine(std::move(h), value.low, value.high);
  }
};

// The XXH3 128-bit hash of `bytes`.
Hash128 FastHash(absl::string_view bytes);

// SHA-256 of `bytes` in lower-case hexadecimal, 64 characters: cache keys and
// content addresses.
std::string Sha256Hex(absl::string_view bytes);

// Returns a random (version 4) UUID, for names that are unique by themselves.
std::string RandomUuid();

}  // namespace hone

#endif  // HONE_BASE_HASH_H_

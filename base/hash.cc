#include "base/hash.h"

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/may_block.h"

namespace hone {

Hash128 FastHash(absl::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string Sha256Hex(absl::string_view bytes) {
  // A millisecond or more.
  constexpr size_t kMuch = size_t{1} << 20;
  if (bytes.size() > kMuch) AssertMayBlock("hashing");
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         digest.data());
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string RandomUuid() {
  std::array<unsigned char, 16> bytes;
  HONE_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  const std::string hex = absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return absl::StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-",
                      hex.substr(12, 4), "-", hex.substr(16, 4), "-",
                      hex.substr(20));
}

}  // namespace hone

#ifndef HONE_HLO_ANALYSIS_CANONICAL_ENCODING_H_
#define HONE_HLO_ANALYSIS_CANONICAL_ENCODING_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/shape.h"

namespace hone::hlo {

// The values of the canonical form, as bytes. Every encoding is
// self-delimiting, so that no two sequences of values share their bytes.

// An integer in base 128, least significant digit first; small ones of either
// sign take a byte.
inline void AppendInteger(int64_t value, std::string& out) {
  uint64_t bits =
      (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  while (bits >= 0x80) {
    out.push_back(static_cast<char>(bits | 0x80));
    bits >>= 7;
  }
  out.push_back(static_cast<char>(bits));
}

inline void AppendSize(size_t size, std::string& out) {
  AppendInteger(static_cast<int64_t>(size), out);
}

void AppendBytes(absl::string_view bytes, std::string& out);

// HLO text of which blanks, comments and `%` outside strings do not count.
void AppendText(absl::string_view text, std::string& out);

void AppendShape(const Shape& shape, std::string& out);

// Everything but metadata. The order of Attributes::others does not count.
void AppendAttributeValues(const Attributes& attributes, std::string& out);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_CANONICAL_ENCODING_H_

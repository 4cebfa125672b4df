#ifndef HONE_BASE_MIX_BITS_H_
#define HONE_BASE_MIX_BITS_H_

#include <cstdint>

namespace hone {

// Returns a word that looks random and depends on all bits of `word`, one to
// one: the output of a SplitMix64 generator whose state becomes `word`.
// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
inline uint64_t MixBits(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

}  // namespace hone

#endif  // HONE_BASE_MIX_BITS_H_

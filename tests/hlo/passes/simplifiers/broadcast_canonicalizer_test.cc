#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(BroadcastCanonicalizer, SortsTheDimensions) {
  ExpectRewrites("broadcast_canonicalizer", R"(
HloModule m
ENTRY e {
  p = f32[2,4] parameter(0)
  ROOT b = f32[4,3,2] broadcast(p), dimensions={2,0}
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[2,4] parameter(0)
  b = f32[2,3,4] broadcast(p), dimensions={0,2}
  ROOT t = f32[4,3,2] transpose(b), dimensions={2,1,0}
})");
}

TEST(BroadcastCanonicalizer, SortsACycle) {
  ExpectRewrites("broadcast_canonicalizer", R"(
HloModule m
ENTRY e {
  p = f32[2,3,4] parameter(0)
  ROOT b = f32[5,3,4,2] broadcast(p), dimensions={3,1,2}
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[2,3,4] parameter(0)
  b = f32[5,2,3,4] broadcast(p), dimensions={1,2,3}
  ROOT t = f32[5,3,4,2] transpose(b), dimensions={0,2,3,1}
})");
}

TEST(BroadcastCanonicalizer, KeepsAscendingDimensions) {
  ExpectUnchanged("broadcast_canonicalizer", R"(
HloModule m
ENTRY e {
  p = f32[2,4] parameter(0)
  s = f32[] parameter(1)
  a = f32[2,3,4] broadcast(p), dimensions={0,2}
  b = f32[2,3,4] broadcast(s), dimensions={}
  ROOT r = f32[2,3,4] add(a, b)
})");
}

TEST(BroadcastCanonicalizer, CarriesAttributesToTheTranspose) {
  ExpectEntryRewrites("broadcast_canonicalizer", R"(
  p = s4[2,4] parameter(0)
  ROOT b = s4[4,3,2] broadcast(p), dimensions={2,0}, sharding={devices=[2,1,1]<=[2]})",
                      R"(
  p = s4[2,4] parameter(0)
  b = s4[2,3,4] broadcast(p), dimensions={0,2}
  ROOT t = s4[4,3,2] transpose(b), dimensions={2,1,0}, sharding={devices=[2,1,1]<=[2]})");
}

}  // namespace
}  // namespace hone::hlo

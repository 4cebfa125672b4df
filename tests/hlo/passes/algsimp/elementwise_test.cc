#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectSimplifies(const char* before, const char* after) {
  ExpectEntryRewrites("algsimp", before, after);
}
void ExpectKept(const char* body) { ExpectEntryUnchanged("algsimp", body); }

TEST(AlgsimpElementwise, SinksBroadcasts) {
  ExpectSimplifies(R"(
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  a = f32[4] broadcast(p), dimensions={}
  b = f32[4] broadcast(q), dimensions={}
  ROOT r = f32[4] power(a, b))",
                   R"(
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  a = f32[] power(p, q)
  ROOT r = f32[4] broadcast(a), dimensions={})");
  ExpectSimplifies(R"(
  p = f32[3] parameter(0)
  a = f32[4,3] broadcast(p), dimensions={1}
  ROOT r = f32[4,3] tanh(a))",
                   R"(
  p = f32[3] parameter(0)
  a = f32[3] tanh(p)
  ROOT r = f32[4,3] broadcast(a), dimensions={1})");
}

TEST(AlgsimpElementwise, BroadcastsAScalarToTheSmallerShape) {
  ExpectSimplifies(R"(
  p = f32[3] parameter(0)
  q = f32[] parameter(1)
  a = f32[4,3] broadcast(p), dimensions={1}
  b = f32[4,3] broadcast(q), dimensions={}
  ROOT r = f32[4,3] maximum(a, b))",
                   R"(
  p = f32[3] parameter(0)
  q = f32[] parameter(1)
  b = f32[3] broadcast(q), dimensions={}
  m = f32[3] maximum(p, b)
  ROOT r = f32[4,3] broadcast(m), dimensions={1})");
}

TEST(AlgsimpElementwise, KeepsBroadcastsThatOthersUse) {
  ExpectKept(R"(
  p = f32[] parameter(0)
  a = f32[4] broadcast(p), dimensions={}
  b = f32[4] tanh(a)
  ROOT t = (f32[4], f32[4]) tuple(a, b))");
}

TEST(AlgsimpElementwise, KeepsBroadcastsOfDifferentDimensions) {
  ExpectKept(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  a = f32[4,4] broadcast(p), dimensions={0}
  b = f32[4,4] broadcast(q), dimensions={1}
  ROOT r = f32[4,4] add(a, b))");
}

TEST(AlgsimpUnary, SimplifiesAbsoluteValues) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  a = f32[4] abs(n)
  ROOT b = f32[4] abs(a))",
                   R"(
  p = f32[4] parameter(0)
  ROOT b = f32[4] abs(p))");
}

TEST(AlgsimpUnary, DropsRepeatedRounding) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  a = f32[4] floor(p)
  ROOT b = f32[4] floor(a))",
                   R"(
  p = f32[4] parameter(0)
  ROOT b = f32[4] floor(p))");
  ExpectKept(R"(
  p = f32[4] parameter(0)
  a = f32[4] floor(p)
  ROOT b = f32[4] tanh(a))");
}

TEST(AlgsimpUnary, ExpandsSmallPowers) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  c = f32[] constant(2)
  cs = f32[4] broadcast(c), dimensions={}
  ROOT r = f32[4] power(p, cs))",
                   R"(
  p = f32[4] parameter(0)
  ROOT r = f32[4] multiply(p, p))");
  ExpectSimplifies(R"(
  p = f32[] parameter(0)
  c = f32[] constant(3)
  ROOT r = f32[] power(p, c))",
                   R"(
  p = f32[] parameter(0)
  s = f32[] multiply(p, p)
  ROOT r = f32[] multiply(s, p))");
}

TEST(AlgsimpUnary, TakesComplexNumbersApartAndTogether) {
  ExpectSimplifies(R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  z = c64[4] complex(p, q)
  re = f32[4] real(z)
  im = f32[4] imag(z)
  ROOT t = (f32[4], f32[4]) tuple(im, re))",
                   R"(
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT t = (f32[4], f32[4]) tuple(q, p))");
  ExpectSimplifies(R"(
  z = c64[4] parameter(0)
  re = f32[4] real(z)
  im = f32[4] imag(z)
  ROOT r = c64[4] complex(re, im))",
                   R"(
  ROOT z = c64[4] parameter(0))");
}

}  // namespace
}  // namespace hone::hlo

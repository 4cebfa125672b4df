#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

void ExpectMerges(const char* before, const char* after) {
  ExpectEntryRewrites("dimension-merger", before, after);
}
void ExpectKept(const char* body) {
  ExpectEntryUnchanged("dimension-merger", body);
}

TEST(DimensionMerger, MergesBetweenReshapes) {
  ExpectMerges(R"(
  p = f32[128,8] parameter(0)
  q = f32[8] parameter(1)
  a = f32[2,64,8] reshape(p)
  b = f32[2,64,8] broadcast(q), dimensions={2}
  c = f32[2,64,8] multiply(a, b)
  d = f32[2,64,8] tanh(c)
  ROOT r = f32[128,8] reshape(d))",
               R"(
  p = f32[128,8] parameter(0)
  q = f32[8] parameter(1)
  b = f32[128,8] broadcast(q), dimensions={1}
  c = f32[128,8] multiply(p, b)
  ROOT d = f32[128,8] tanh(c))");
}

// As in a normalization.
TEST(DimensionMerger, FollowsReductionsAndBroadcasts) {
  ExpectMerges(R"(
  p = f32[128,8] parameter(0)
  z = f32[] constant(0)
  a = f32[2,64,8] reshape(p)
  s = f32[2,64] reduce(a, z), dimensions={2}, to_apply=sum
  t = f32[2,64] sqrt(s)
  b = f32[2,64,8] broadcast(t), dimensions={0,1}
  c = f32[2,64,8] subtract(a, b)
  ROOT r = f32[128,8] reshape(c))",
               R"(
  p = f32[128,8] parameter(0)
  z = f32[] constant(0)
  s = f32[128] reduce(p, z), dimensions={1}, to_apply=sum
  t = f32[128] sqrt(s)
  b = f32[128,8] broadcast(t), dimensions={0}
  ROOT c = f32[128,8] subtract(p, b))");
}

TEST(DimensionMerger, FollowsTransposesThatKeepTheDimensionsTogether) {
  ExpectMerges(R"(
  p = f32[128,8] parameter(0)
  a = f32[2,64,8] reshape(p)
  b = f32[2,64,8] exponential(a)
  t = f32[8,2,64] transpose(b), dimensions={2,0,1}
  ROOT r = f32[8,128] reshape(t))",
               R"(
  p = f32[128,8] parameter(0)
  b = f32[128,8] exponential(p)
  ROOT t = f32[8,128] transpose(b), dimensions={1,0})");
}

TEST(DimensionMerger, LetsAReductionOfAllOfThemAbsorbTheReshape) {
  ExpectMerges(R"(
  p = f32[128,8] parameter(0)
  z = f32[] constant(0)
  a = f32[2,64,8] reshape(p)
  b = f32[2,64,8] exponential(a)
  s = f32[8] reduce(b, z), dimensions={0,1}, to_apply=sum
  c = f32[128,8] reshape(b)
  ROOT r = (f32[8], f32[128,8]) tuple(s, c))",
               R"(
  p = f32[128,8] parameter(0)
  z = f32[] constant(0)
  b = f32[128,8] exponential(p)
  s = f32[8] reduce(b, z), dimensions={0}, to_apply=sum
  ROOT r = (f32[8], f32[128,8]) tuple(s, b))");
}

TEST(DimensionMerger, MergesIotasAndConstants) {
  ExpectMerges(R"(
  p = s32[6,2] parameter(0)
  a = s32[2,3,2] reshape(p)
  i = s32[2,3,2] iota(), iota_dimension=2
  k = s32[2,3,2] constant({{{1,2},{3,4},{5,6}},{{7,8},{9,10},{11,12}}})
  b = s32[2,3,2] add(a, i)
  c = s32[2,3,2] multiply(b, k)
  ROOT r = s32[6,2] reshape(c))",
               R"(
  p = s32[6,2] parameter(0)
  i = s32[6,2] iota(), iota_dimension=1
  b = s32[6,2] add(p, i)
  k = s32[6,2] constant({{1,2},{3,4},{5,6},{7,8},{9,10},{11,12}})
  ROOT c = s32[6,2] multiply(b, k))");
}

TEST(DimensionMerger, StaysWhereAsManyReshapesCome) {
  // A broadcast of only one of the two.
  ExpectKept(R"(
  p = f32[128,8] parameter(0)
  q = f32[64,8] parameter(1)
  a = f32[2,64,8] reshape(p)
  b = f32[2,64,8] broadcast(q), dimensions={1,2}
  ROOT c = f32[2,64,8] add(a, b))");
  // A transpose that parts them.
  ExpectKept(R"(
  p = f32[128,8] parameter(0)
  a = f32[2,64,8] reshape(p)
  b = f32[2,64,8] tanh(a)
  ROOT c = f32[64,2,8] transpose(b), dimensions={1,0,2})");
}

}  // namespace
}  // namespace hone::hlo

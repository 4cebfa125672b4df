#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "dynamic-dimension-simplifier";

TEST(DynamicDimensionSimplifier, FlattensConcatenations) {
  ExpectEntryRewrites(kPass, R"(
  a = s32[1] parameter(0)
  b = s32[2] parameter(1)
  c = s32[3] concatenate(a, b), dimensions={0}
  ROOT d = s32[4] concatenate(c, a), dimensions={0})",
                      R"(
  a = s32[1] parameter(0)
  b = s32[2] parameter(1)
  ROOT d = s32[4] concatenate(a, b, a), dimensions={0})");
}

TEST(DynamicDimensionSimplifier, KeepsConcatenationsOfOtherDimensions) {
  ExpectEntryUnchanged(kPass, R"(
  a = s32[1,2] parameter(0)
  c = s32[2,2] concatenate(a, a), dimensions={0}
  ROOT d = s32[2,4] concatenate(c, c), dimensions={1})");
}

TEST(DynamicDimensionSimplifier, TakesAPartOfAConcatenation) {
  ExpectEntryRewrites(kPass, R"(
  a = s32[1] parameter(0)
  b = s32[2] parameter(1)
  c = s32[4] concatenate(a, b, a), dimensions={0}
  ROOT s = s32[2] slice(c), slice={[1:3]})",
                      R"(
  a = s32[1] parameter(0)
  ROOT b = s32[2] parameter(1))");
}

TEST(DynamicDimensionSimplifier, KeepsSlicesOfSeveralParts) {
  ExpectEntryUnchanged(kPass, R"(
  a = s32[1] parameter(0)
  b = s32[2] parameter(1)
  c = s32[4] concatenate(a, b, a), dimensions={0}
  s = s32[2] slice(c), slice={[0:2]}
  u = s32[2] slice(c), slice={[1:4:2]}
  ROOT t = (s32[2], s32[2]) tuple(s, u))");
}

TEST(DynamicDimensionSimplifier, ForwardsScalarsThroughVectors) {
  ExpectEntryRewrites(kPass, R"(
  a = s32[] parameter(0)
  b = s32[1] broadcast(a), dimensions={}
  c = s32[] reshape(b)
  d = s32[1] reshape(c)
  e = s32[] reshape(d)
  f = s32[] convert(e)
  ROOT r = s32[] negate(f))",
                      R"(
  a = s32[] parameter(0)
  ROOT r = s32[] negate(a))");
}

TEST(DynamicDimensionSimplifier, KeepsReshapesToOtherShapes) {
  ExpectEntryUnchanged(kPass, R"(
  a = s32[6] parameter(0)
  s = s32[] parameter(1)
  b = s32[2,3] reshape(a)
  c = s32[3,2] reshape(b)
  d = s32[1] broadcast(s), dimensions={}
  e = s32[1,1] reshape(d)
  f = f32[] convert(s)
  ROOT t = (s32[3,2], s32[1,1], f32[]) tuple(c, e, f))");
}

TEST(DynamicDimensionSimplifier, KeepsAShardingBetween) {
  ExpectEntryUnchanged(kPass, R"(
  a = s32[2] parameter(0)
  b = s32[4] concatenate(a, a), dimensions={0}, sharding={devices=[2]<=[2]}
  c = s32[6] concatenate(b, a), dimensions={0}
  d = s32[1,2] reshape(a), sharding={devices=[1,2]<=[2]}
  e = s32[2] reshape(d)
  ROOT t = (s32[6], s32[2]) tuple(c, e))");
}

}  // namespace
}  // namespace hone::hlo

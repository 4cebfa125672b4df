#include "hlo/rewrite/values.h"

#include "gtest/gtest.h"

#include "tests/hlo/rewrite/entry_module.h"

namespace hone::hlo {
namespace {

TEST(UniformLiteral, LooksThroughBroadcastsOnly) {
  const Module module = EntryModule(R"(
  c = f32[] constant(2.5)
  b = f32[4] broadcast(c), dimensions={}
  r = f32[2,2] reshape(b)
  n = f32[2,2] negate(r)
  d = f32[2] constant({1, 1})
  ROOT t = (f32[2,2], f32[2,2], f32[2]) tuple(r, n, d))");
  const Computation& c = module.entry_computation();
  const Instruction& root = c[c.root()];
  EXPECT_TRUE(IsUniform(c, root.operand(0), 2.5));
  EXPECT_FALSE(IsUniform(c, root.operand(0), 2));
  EXPECT_EQ(UniformLiteral(c, root.operand(1)), nullptr);
  EXPECT_EQ(UniformLiteral(c, root.operand(2)), nullptr);
}

}  // namespace
}  // namespace hone::hlo

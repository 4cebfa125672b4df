#include "hlo/equivalence/signs.h"

#include "gtest/gtest.h"

#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

// A step of Adam: the second moment is under the root, the gradient is not, as
// it is a sum of products.
TEST(ParametersUnderRoots, FindsTheSecondMoment) {
  const auto module = ParseHloText(R"(
HloModule m
ENTRY e {
  w = f32[2,2] parameter(0)
  m = f32[2,2] parameter(1)
  v = f32[2,2] parameter(2)
  x = f32[2,2] parameter(3)
  g = f32[2,2] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[] constant(0.9)
  b = f32[2,2] broadcast(c), dimensions={}
  g2 = f32[2,2] multiply(g, g)
  bv = f32[2,2] multiply(v, b)
  v2 = f32[2,2] add(bv, g2)
  t = f32[2,2] transpose(v2), dimensions={1,0}
  r = f32[2,2] sqrt(t)
  d = f32[2,2] divide(m, r)
  ROOT s = f32[2,2] subtract(w, d)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ParametersUnderRoots(*module),
            (std::vector<bool>{false, false, true, false}));
}

TEST(ParametersUnderRoots, TakesTheBaseOfAPowerOnly) {
  const auto module = ParseHloText(R"(
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT p = f32[4] power(x, y)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ParametersUnderRoots(*module), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace hone::hlo

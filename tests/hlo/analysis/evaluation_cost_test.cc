#include "hlo/analysis/evaluation_cost.h"

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

TEST(EvaluationCost, CountsBothSidesAndTheArguments) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(R"(HloModule m

ENTRY main {
  a = f32[100,200]{1,0} parameter(0)
  b = f32[200,50]{1,0} parameter(1)
  product = f32[100,50]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT waves = f32[100,50]{1,0} sine(product)
}
)"));
  const EvaluationCost cost = EstimateEvaluation(module);
  EXPECT_EQ(cost.flops, 2.0 * 100 * 200 * 50 + 100 * 50);
  EXPECT_EQ(cost.most_flops, "product");
  const double a = 4 * 100 * 200;
  const double b = 4 * 200 * 50;
  const double product = 4 * 100 * 50;
  EXPECT_EQ(cost.bytes, a + b + 2 * (a + b + product + product));
  EXPECT_EQ(cost.most_bytes, "product");
}

TEST(EvaluationCost, CountsConstants) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(R"(HloModule m

ENTRY main {
  a = s32[3]{0} constant({1, 2, 3})
  b = s32[3]{0} parameter(0)
  ROOT sum = s32[3]{0} add(a, b)
}
)"));
  EXPECT_EQ(ConstantBytes(module), 12);
}

}  // namespace
}  // namespace hone::hlo

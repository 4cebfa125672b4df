#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::testing::HasSubstr;

constexpr char kMatmul[] = R"(kernel matmul
argument a f32[4,8]
argument b f32[8,6]
result c f32[4,6]
for i 4
| for j 6
| | c[i,j] = 0.0
| | for k 8
| | | c[i,j] += a[i,k] * b[k,j]
)";

TEST(NonTemporal, MarksTheStores) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[5]
result y f32[5]
for i 5
| y[i] = x[i]
)",
                         "non_temporal 0.0"),
            Canonical(R"(kernel k
argument x f32[5]
result y f32[5]
for i0 5
| y[i0] = x[i0] nontemporal
)"));
}

TEST(NonTemporal, RefusesWhatIsReadBack) {
  EXPECT_THAT(After(kMatmul, "non_temporal 0.0.0"), HasSubstr("read back"));
}

}  // namespace
}  // namespace hone::loops

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/loops/transforms/shared_programs.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::hone::testing::kMatmul;
using ::testing::HasSubstr;

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

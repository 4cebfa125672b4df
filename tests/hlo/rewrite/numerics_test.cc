#include "hlo/rewrite/numerics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;

TEST(Numerics, PermitsTheClassesBelow) {
  EXPECT_TRUE(Permits(Numerics::kExact, NumericClass::kExact));
  EXPECT_FALSE(Permits(Numerics::kExact, NumericClass::kReassociates));
  EXPECT_TRUE(Permits(Numerics::kReassociate, NumericClass::kReassociates));
  EXPECT_FALSE(Permits(Numerics::kReassociate, NumericClass::kChangesRange));
  EXPECT_TRUE(Permits(Numerics::kFast, NumericClass::kChangesRange));
}

TEST(Numerics, ReadsItsOwnNamesAndListsThem) {
  for (Numerics n :
       {Numerics::kExact, Numerics::kReassociate, Numerics::kFast}) {
    EXPECT_EQ(*ParseNumerics(NumericsName(n)), n);
  }
  EXPECT_THAT(ParseNumerics("quick").status().message(),
              HasSubstr("'quick', expected exact, reassociate or fast"));
}

}  // namespace
}  // namespace hone::hlo

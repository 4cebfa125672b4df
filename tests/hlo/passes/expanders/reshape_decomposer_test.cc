#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string Decomposed(absl::string_view body) {
  return PrintedAfter("reshape-decomposer", body);
}

TEST(ReshapeDecomposer, CopiesTheOperand) {
  EXPECT_THAT(Decomposed(R"(
  x = f32[2,3]{0,1} parameter(0)
  ROOT r = f32[6] reshape(x))"),
              AllOf(ContainsRegex(R"(f32\[2,3\]\{1,0\} copy\()"),
                    ContainsRegex(R"(ROOT r = f32\[6\]\{0\} reshape\(copy)")));
}

TEST(ReshapeDecomposer, CopiesTheResult) {
  EXPECT_THAT(
      Decomposed(R"(
  x = f32[6] parameter(0)
  ROOT r = f32[2,3]{0,1} reshape(x))"),
      AllOf(ContainsRegex(R"(f32\[2,3\]\{1,0\} reshape\(x\))"),
            ContainsRegex(R"(ROOT r = f32\[2,3\]\{0,1\} copy\(reshape)")));
}

TEST(ReshapeDecomposer, CopiesBoth) {
  EXPECT_THAT(Decomposed(R"(
  x = f32[2,3]{0,1} parameter(0)
  ROOT r = f32[3,2]{0,1} reshape(x))"),
              AllOf(ContainsRegex(R"(f32\[2,3\]\{1,0\} copy\(x\))"),
                    ContainsRegex(R"(f32\[3,2\]\{1,0\} reshape\(copy)"),
                    ContainsRegex(R"(f32\[3,2\]\{0,1\} copy\(reshape)")));
}

TEST(ReshapeDecomposer, LeavesViews) {
  // Default layouts.
  EXPECT_EQ(Decomposed(R"(
  x = f32[2,3] parameter(0)
  ROOT r = f32[3,2] reshape(x))"),
            "");
  // Dimensions of one element are anywhere.
  EXPECT_EQ(Decomposed(R"(
  x = f32[2,3]{0,1} parameter(0)
  ROOT r = f32[2,1,3]{0,2,1} reshape(x))"),
            "");
  EXPECT_EQ(Decomposed(R"(
  x = f32[1,6]{0,1} parameter(0)
  ROOT r = f32[6] reshape(x))"),
            "");
  // Split where it lies in one piece.
  EXPECT_EQ(Decomposed(R"(
  x = f32[6,5]{0,1} parameter(0)
  ROOT r = f32[2,3,5]{1,0,2} reshape(x))"),
            "");
}

TEST(ReshapeDecomposer, SeesASplitThatIsNoView) {
  EXPECT_THAT(Decomposed(R"(
  x = f32[6,5]{0,1} parameter(0)
  ROOT r = f32[2,3,5]{0,1,2} reshape(x))"),
              HasSubstr("copy("));
}

TEST(ReshapeDecomposer, CarriesAttributesAndKeepsTheLayoutThatABitcastSees) {
  EXPECT_THAT(Decomposed(R"(
  x = f32[6] parameter(0)
  r = f32[2,3]{0,1} reshape(x), sharding={devices=[2,1]0,1}
  ROOT b = f32[3,2]{1,0} bitcast(r))"),
              AllOf(ContainsRegex(R"(r = f32\[2,3\]\{0,1\} copy\(.*sharding=)"),
                    ContainsRegex(R"(bitcast\(r\))")));
}

}  // namespace
}  // namespace hone::hlo

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/ir/literal.h"
#include "loops/interpreter/interpreter.h"
#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

std::string Text(absl::string_view algorithm, int state, absl::string_view type,
                 absl::string_view dimensions) {
  return absl::StrReplaceAll(ModuleText(R"(
  s = u64[STATE] parameter(0)
  ROOT r = (u64[STATE], TYPE[DIMS]) rng-bit-generator(s), algorithm=ALGORITHM)"),
                             {{"STATE", absl::StrCat(state)},
                              {"TYPE", std::string(type)},
                              {"DIMS", std::string(dimensions)},
                              {"ALGORITHM", std::string(algorithm)}});
}

constexpr const char* kDimensions[] = {"",    "0",     "1",     "5",    "32",
                                       "33",  "200",   "3,5",   "3,70", "4,3",
                                       "7,1", "5,9,3", "3,2,0", "2,2,2"};

TEST(LowerRngBitGenerator, DrawsWhatTheEvaluatorDraws) {
  for (const char* dimensions : kDimensions) {
    for (const char* type : {"u32", "u64", "u8", "s16"}) {
      SCOPED_TRACE(absl::StrCat(type, "[", dimensions, "]"));
      ExpectSchedulesRight(
          ExpectLowersRight(Text("rng_three_fry", 2, type, dimensions)));
      ExpectSchedulesRight(
          ExpectLowersRight(Text("rng_philox", 3, type, dimensions)));
    }
  }
}

// With two words of state, which the evaluator does not have, and by default:
// numbers of XLA:CPU.
TEST(LowerRngBitGenerator, DrawsWhatXlaDraws) {
  for (const char* algorithm : {"rng_philox", "rng_default"}) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const Program program,
        LowerToProgram(ParseModule(Text(algorithm, 2, "u32", "6"))));
    hlo::Literal state(hlo::Shape::Array(hlo::ElementType::kU64, {2}));
    state.mutable_values<uint64_t>()[0] = uint64_t{2} << 32 | 1;
    state.mutable_values<uint64_t>()[1] = uint64_t{4} << 32 | 3;
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                              Interpret(program, {state}));
    EXPECT_THAT(
        results[0].values<uint64_t>(),
        ::testing::ElementsAre(uint64_t{2} << 32 | 1, uint64_t{4} << 32 | 5));
    EXPECT_THAT(results[1].values<uint32_t>(),
                ::testing::ElementsAre(512747620, 1298009047, 1267190206,
                                       761827841, 1383286907, 1639995030));
  }
}

TEST(LowerBitcastConvert, BetweenWidths) {
  ExpectLowersRight(ModuleText(R"(
  a = u32[3,2] parameter(0)
  b = f64[5] parameter(1)
  c = s8[2,4] parameter(2)
  wide = u64[3] bitcast-convert(a)
  narrow = u16[5,4] bitcast-convert(b)
  number = f32[2] bitcast-convert(c)
  back = s8[5,8] bitcast-convert(b)
  ROOT t = (u64[3], u16[5,4], f32[2], s8[5,8]) tuple(wide, narrow, number, back))"));
}

}  // namespace
}  // namespace hone::loops

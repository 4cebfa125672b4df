#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "loops/text/text.h"
#include "tests/backends/native_program.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExpectTextMatchesInterpreter;
using ::testing::HasSubstr;
using ::testing::Not;

// Lists, for each of 5 rows, what fulfils `condition` after `before`.
std::string ListText(int size, int room, const std::string& condition,
                     const std::string& before = "",
                     const std::string& type = "f32") {
  return absl::StrReplaceAll(R"(kernel list
argument x TYPE[5,SIZE]
argument a s32[5]
result y s32[5,ROOM]
result z s32[5]
for i 5
| local list s32[ROOM] stack
| local next s32[] register
| for j ROOM
| | y[i,j] = s32(-1)
| next[] = s32(0)
BEFORE| for j SIZE
| | list[{next[]}] = index(s32, j) if (CONDITION)
| | next[] += s32(1) if (CONDITION)
| z[i] = next[]
| for j ROOM
| | y[i,j] = list[j] if (index(s32, j) < next[])
)",
                             {{"TYPE", type},
                              {"SIZE", absl::StrCat(size)},
                              {"ROOM", absl::StrCat(room)},
                              {"BEFORE", before},
                              {"CONDITION", condition}});
}

std::string Code(const std::string& text, const char* features) {
  CompileOptions options;
  options.cpu = "x86-64";
  options.features = features;
  return EmitLlvmText(loops::ParseProgram(text).value(), "list", false, options)
      .value();
}

// Vectors that AVX2 moves to the front: one for each loop, and one for a last
// vector of fewer lanes.
int CountVectors(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(
      Code(text, "+avx2"), "call <8 x i32> @llvm.x86.avx2.permd");
  return static_cast<int>(parts.size()) - 1;
}

TEST(CompactionTest, ListsAnyNumber) {
  for (const int size : {3, 8, 16, 21, 32, 75, 160}) {
    for (const char* condition :
         {"x[i,j] < 0.0", "x[i,j] < -9.0", "x[i,j] < 9.0",
          "and(a[i] < s32(4), x[i,j] < 0.5)"}) {
      // With and without room for a vector behind the list.
      for (const int room : {0, 16}) {
        SCOPED_TRACE(absl::StrCat(size, " ", condition, " ", room));
        ExpectTextMatchesInterpreter(
            ListText(size, size + room, condition).c_str());
      }
    }
  }
}

TEST(CompactionTest, ByConditionsOfAnyType) {
  for (const char* type : {"s8", "s16", "s32", "s64"}) {
    ExpectTextMatchesInterpreter(
        ListText(75, 80, absl::StrCat("x[i,j] < ", type, "(4)"), "", type)
            .c_str());
  }
}

// What is not listed is out of bounds.
TEST(CompactionTest, LoadsOnlyWhatIsListed) {
  constexpr char kText[] = R"(kernel list
argument x s32[40]
argument a s32[4]
result y s32[40]
local list s32[48] stack
local next s32[] register
next[] = s32(0)
for j 40
| list[{next[]}] = a[{x[j]}] if (x[j] < s32(4))
| next[] += s32(1) if (x[j] < s32(4))
for j 40
| y[j] = s32(-1)
for j 40
| y[j] = list[j] if (index(s32, j) < next[])
)";
  EXPECT_EQ(CountVectors(kText), 1);
  EXPECT_THAT(Code(kText, "+avx2"), HasSubstr("masked.gather"));
  ExpectTextMatchesInterpreter(kText);
}

TEST(CompactionTest, IsVectorCode) {
  const std::string text = ListText(75, 80, "x[i,j] < 0.0");
  EXPECT_THAT(Code(text, "+avx2,+avx512f"), HasSubstr("mask.compress"));
  EXPECT_EQ(CountVectors(text), 2);
  EXPECT_THAT(Code(text, "+avx"), Not(HasSubstr("permd")));
}

constexpr char kListsOthers[] = R"(| for j 75
| | list[{next[]}] = index(s32, j) if (x[i,j] > 1.0)
| | next[] += s32(1) if (x[i,j] > 1.0)
)";

// A list that goes on where another loop ended.
TEST(CompactionTest, ContinuesAList) {
  const std::string text = ListText(75, 166, "x[i,j] < 0.0", kListsOthers);
  EXPECT_EQ(CountVectors(text), 4);
  ExpectTextMatchesInterpreter(text.c_str());
}

// What is behind the next element must stay if it has a value.
TEST(CompactionTest, KeepsValuesBehindAList) {
  const std::pair<std::string, int> cases[] = {
      {"| for j 100\n| | list[j] = s32(7)\n", 0},
      {absl::StrCat(kListsOthers, "| next[] = s32(0)\n"), 2}};
  for (const auto& [before, vectors] : cases) {
    const std::string text = absl::StrReplaceAll(
        ListText(75, 100, "x[i,j] < -1.5", before),
        {{"if (index(s32, j) < next[])", "if (index(s32, j) < s32(5))"}});
    EXPECT_EQ(CountVectors(text), vectors);
    ExpectTextMatchesInterpreter(text.c_str());
  }
}

}  // namespace
}  // namespace hone::backends

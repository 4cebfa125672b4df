#include "loops/schedules/default_schedule.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/ir/rewrite.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/program_text.h"
#include "tests/loops/random_program.h"
#include "tests/loops/schedules/scheduled_text.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::CheckSame;
using ::hone::testing::Count;
using ::hone::testing::ExampleProgram;
using ::hone::testing::ExamplePrograms;
using ::hone::testing::ParseExample;
using ::hone::testing::ParseText;
using ::hone::testing::Scheduled;
using ::hone::testing::ScheduledText;
using ::hone::testing::SmallVectors;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DefaultSchedule, KeepsWhatExamplesCompute) {
  for (const ExampleProgram& example : ExamplePrograms()) {
    const Program program = ParseExample(example.name);
    for (int32_t threads : {1, 2}) {
      HONE_ASSERT_OK_AND_ASSIGN(const Program after,
                                Scheduled(program, SmallVectors(threads)));
      EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus())
          << example.name << '\n'
          << PrintProgramWithPaths(after);
    }
  }
}

TEST(DefaultSchedule, KeepsWhatExamplesComputeWhateverIsChosen) {
  for (const ExampleProgram& example : ExamplePrograms()) {
    const Program program = ParseExample(example.name);
    for (size_t c = 0; c < kChoiceCount; ++c) {
      for (int64_t value : AllChoices()[c].values) {
        Choices choices{};
        choices[c] = value;
        HONE_ASSERT_OK_AND_ASSIGN(
            const Program after,
            ApplyScript(program,
                        DefaultSchedule(program, SmallVectors(1), choices)));
        EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1),
                  absl::OkStatus())
            << example.name << ", " << AllChoices()[c].name << '=' << value
            << '\n'
            << PrintProgramWithPaths(after);
      }
    }
  }
}

TEST(DefaultSchedule, KeepsWhatRandomProgramsCompute) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Program program = ::hone::testing::RandomProgram(seed);
    HONE_ASSERT_OK_AND_ASSIGN(const Program after,
                              Scheduled(program, SmallVectors(2)));
    ASSERT_EQ(CheckSame(program, after, /*exact=*/false, seed),
              absl::OkStatus())
        << seed << '\n'
        << PrintProgramWithPaths(after);
  }
}

TEST(DefaultSchedule, FusesTheRowsOfSoftmax) {
  Machine machine = SmallVectors(1);
  machine.vector_bytes = 32;  // More lanes than rows: they are no lanes.
  HONE_ASSERT_OK_AND_ASSIGN(const Program after,
                            Scheduled(ParseExample("softmax"), machine));
  EXPECT_EQ(after.body().size(), 1u) << PrintProgram(after);
  EXPECT_THAT(PrintProgram(after), HasSubstr("vector"));
}

TEST(DefaultSchedule, GivesMatrixProductsATileInRegistersWithoutBounds) {
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(kernel m
argument a f32[61,37]
argument b f32[37,50]
result c f32[61,50]
for i 61
| for j 50
| | c[i,j] = 0.0
| | for k 37
| | | c[i,j] += a[i,k] * b[k,j]
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after,
                            Scheduled(program, SmallVectors(1)));
  const std::string text = PrintProgram(after);
  EXPECT_THAT(text, HasSubstr("f32[6,8] register"));
  EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
  VisitLoops(after, {}, [&](const Path&, const Loop& loop) {
    EXPECT_FALSE(loop.bound.has_value() && loop.mode != LoopMode::kVector)
        << text;
  });
}

TEST(DefaultSchedule, AddsTheBiasWhereTheProductIsInRegisters) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[61,37]
argument b f32[37,53]
argument v f32[53]
result y f32[61,53]
local c f32[61,53] heap
for i 61
| for j 53
| | c[i,j] = 0.0
| | for k 37
| | | c[i,j] += a[i,k] * b[k,j]
for i 61
| for j 53
| | y[i,j] = maximum(c[i,j] + v[j], 0.0)
)");
  EXPECT_THAT(text, HasSubstr("local c f32[6,8] register"));
  EXPECT_THAT(text, Not(HasSubstr("f32[61,53] heap")));
}

TEST(DefaultSchedule, TwoProductsInARowMeetInOneBatch) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[3,96,64]
argument b f32[3,64,96]
argument v f32[3,96,64]
result y f32[3,96,64]
local c f32[3,96,96] heap
for n 3
| for i 96
| | for j 96
| | | c[n,i,j] = 0.0
| | | for k 64
| | | | c[n,i,j] += a[n,i,k] * b[n,k,j]
for n 3
| for i 96
| | for j 64
| | | y[n,i,j] = 0.0
| | | for k 96
| | | | y[n,i,j] += c[n,i,k] * v[n,k,j]
)");
  EXPECT_THAT(text, HasSubstr("local c f32[96,96]"));
}

TEST(DefaultSchedule, SumsAtTheEdgeAreWholeVectors) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[61,37]
argument b f32[37,53]
result c f32[61,53]
for i 61
| for j 53
| | c[i,j] = 0.0
| | for k 37
| | | c[i,j] += a[i,k] * b[k,j]
)");
  // Only what is stored has a bound.
  std::string loop;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(line, "for ")) loop = std::string(line);
    if (absl::StrContains(line, " += ")) {
      EXPECT_THAT(loop, Not(HasSubstr("<"))) << text;
    }
  }
}

TEST(DefaultSchedule, SumsWithOthersBetweenAreTakenTogether) {
  const std::string text = ScheduledText(R"(kernel n
argument x f32[8,64]
result y f32[8,64]
local s f32[8] heap
local m f32[8] heap
local q f32[8] heap
for i 8
| s[i] = 0.0
| for k 64
| | s[i] += x[i,k]
| m[i] = s[i] / 64.0
| q[i] = 0.0
| for k 64
| | q[i] += x[i,k] * x[i,k]
| for k 64
| | y[i,k] = x[i,k] * m[i] + q[i]
)");
  EXPECT_EQ(Count(text, "vector"), 2) << text;
}

TEST(DefaultSchedule, OuterLoopsChangePlacesToMeet) {
  const std::string text = ScheduledText(R"(kernel n
argument x f32[3,5,4,8]
result y f32[3,5,4,8]
local s f32[5] heap
for c 5
| s[c] = 0.0
| for n 3
| | for h 4
| | | for w 8
| | | | s[c] += x[n,c,h,w]
for n 3
| for c 5
| | for h 4
| | | for w 8
| | | | y[n,c,h,w] = x[n,c,h,w] - s[c]
)");
  EXPECT_THAT(text, HasSubstr("local s f32[] register"));
  EXPECT_EQ(Count(text, "\nfor "), 1) << text;
}

TEST(DefaultSchedule, SumsAlongRowsTakeSeveralAtOnce) {
  const std::string text = ScheduledText(R"(kernel s
argument x f32[10,61]
argument w f32[61]
result y f32[10]
for i 10
| y[i] = 0.0
| for k 61
| | y[i] += x[i,k] * w[k]
| y[i] = sqrt(y[i])
)");
  EXPECT_THAT(text, HasSubstr("x[4*i0+i2,8*i1+4*i3+i4] * w[8*i1+4*i3+i4]"));
}

// Ten rows are two blocks of four and one of two; each nest of the first two
// takes its four rows at once.
TEST(DefaultSchedule, NestsOverTheSameRowsMayShareBlocksOfThem) {
  Choices choices{};
  choices[static_cast<size_t>(Choice::kRowBlock)] = 4;
  for (const int32_t threads : {1, 2}) {
    const Program program = ParseText(R"(kernel normalize
argument x f32[10,61]
result y f32[10,61]
local s f32[10] heap
for i 10
| s[i] = 0.0
| for j 61
| | s[i] += x[i,j]
for i 10
| for j 61
| | y[i,j] = x[i,j] / s[i]
)");
    HONE_ASSERT_OK_AND_ASSIGN(
        const Program after,
        ApplyScript(program,
                    DefaultSchedule(program, SmallVectors(threads), choices)));
    EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
    const std::string text = PrintProgramWithPaths(after);
    EXPECT_EQ(after.body().size(), 2u) << text;
    EXPECT_THAT(text, HasSubstr("local s f32[4] stack"));
    EXPECT_THAT(text, HasSubstr("s[i2] += x[4*i0+i2,"));
    EXPECT_THAT(text, HasSubstr("y[4*i0+i1,"));
  }
}

TEST(DefaultSchedule, BlocksOfRowsKeepWhatRandomProgramsCompute) {
  Choices choices{};
  choices[static_cast<size_t>(Choice::kRowBlock)] = 2;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Program program = ::hone::testing::RandomProgram(seed);
    HONE_ASSERT_OK_AND_ASSIGN(
        const Program after,
        ApplyScript(program,
                    DefaultSchedule(program, SmallVectors(2), choices)));
    ASSERT_EQ(CheckSame(program, after, /*exact=*/false, seed),
              absl::OkStatus())
        << seed << '\n'
        << PrintProgramWithPaths(after);
  }
}

// Distances are in iterations: of 8 elements of 4 bytes here, and of more than
// 1 KB each, of which each line counts as a part.
TEST(DefaultSchedule, LoopsOverLargeArgumentsPrefetchAsChosen) {
  const Program program = ParseText(R"(kernel m
argument x f32[1024,512]
argument w f32[512]
result y f32[1024]
for i 1024
| y[i] = 0.0
| for k 512
| | y[i] += x[i,k] * w[k]
)");
  Machine machine = SmallVectors(1);
  const auto schedule = [&](const Choices& choices) {
    const auto after =
        ApplyScript(program, DefaultSchedule(program, machine, choices));
    EXPECT_THAT(after, testing::IsOk());
    return PrintProgram(*after);
  };
  constexpr auto kLines = static_cast<size_t>(Choice::kPrefetch);
  Choices choices{};
  choices[kLines] = 16;
  machine.l2_bytes = 1 << 20;
  EXPECT_THAT(schedule({}), Not(HasSubstr("prefetch")));
  EXPECT_THAT(schedule(choices), HasSubstr("for i1 64 prefetch 32"));
  choices[kLines] = 4;
  EXPECT_THAT(schedule(choices), HasSubstr("for i1 64 prefetch 8"));
  // All of it fits.
  machine.l2_bytes = 2 << 20;
  EXPECT_EQ(schedule(choices), schedule({}));
}

constexpr char kTwoProducts[] = R"(kernel m
argument a f32[61,37]
argument b f32[37,50]
result c f32[61,50]
result d f32[61,50]
for i 61
| for j 50
| | c[i,j] = 0.0
| | for k 37
| | | c[i,j] += a[i,k] * b[k,j]
for i 61
| for j 50
| | d[i,j] = 0.0
| | for k 37
| | | d[i,j] += a[i,k] * b[k,j]
)";

TEST(DefaultSchedule, AChoiceMayBeMadeOnlyOneTime) {
  const Program program = ParseText(kTwoProducts);
  constexpr auto kRows = static_cast<size_t>(Choice::kTileRows);
  // The schedule of `choices`, and how many tiles it has of 6 and of 5 rows.
  const auto tiles = [&](const Choices& choices, ChoiceUse& use) {
    const auto script =
        DefaultSchedule(program, SmallVectors(1), choices, &use);
    EXPECT_EQ(script, DefaultSchedule(program, SmallVectors(1), use.effective,
                                      nullptr));
    const auto after = ApplyScript(program, script);
    EXPECT_THAT(after, testing::IsOk());
    EXPECT_EQ(CheckSame(program, *after, /*exact=*/false, 1), absl::OkStatus());
    const std::string text = PrintProgram(*after);
    return std::make_pair(absl::StrContains(text, "f32[6,"),
                          absl::StrContains(text, "f32[5,"));
  };
  ChoiceUse use;
  EXPECT_EQ(tiles({}, use), std::make_pair(true, false));
  EXPECT_EQ(use.times[kRows], 2u);
  Choices once{};
  once[ChoiceIndex(kRows, 2)] = 5;
  EXPECT_EQ(tiles(once, use), std::make_pair(true, true));
  EXPECT_EQ(use.effective, once);
  Choices everywhere{};
  everywhere[ChoiceIndex(kRows, 0)] = 5;
  EXPECT_EQ(tiles(everywhere, use), std::make_pair(false, true));
  EXPECT_EQ(use.effective, everywhere);
  // Once otherwise, once more what the others are, and where there is nothing.
  Choices mixed = everywhere;
  mixed[ChoiceIndex(kRows, 1)] = 6;
  Choices more = mixed;
  more[ChoiceIndex(kRows, 2)] = 5;
  more[ChoiceIndex(kRows, 3)] = 4;
  more[ChoiceIndex(static_cast<size_t>(Choice::kRowsAtOnce), 0)] = 8;
  EXPECT_EQ(tiles(more, use), std::make_pair(true, true));
  EXPECT_EQ(use.effective, mixed);
  // The rule itself decides nothing.
  Choices rule{};
  rule[ChoiceIndex(kRows, 0)] = 6;
  EXPECT_EQ(tiles(rule, use), std::make_pair(true, false));
  EXPECT_EQ(use.effective, Choices{});
}

// Of rows that have more elements than a vector and less than two, a vector is
// peeled off; sums mask the second one.
TEST(DefaultSchedule, RowsOfLessThanTwoVectorsAreVectors) {
  Machine machine = SmallVectors(1);
  machine.vector_bytes = 64;
  const std::string text = ScheduledText(R"(kernel s
argument x f32[10,23]
result y f32[10,23]
for i 10
| local s f32[] register
| s[] = 0.0
| for k 23
| | s[] += x[i,k] * x[i,k]
| for k 23
| | y[i,k] = x[i,k] * s[]
)",
                                         machine);
  EXPECT_EQ(Count(text, "16 < 23-16*i1 vector"), 1) << text;
  EXPECT_EQ(Count(text, "16 vector"), 1) << text;
  EXPECT_EQ(Count(text, "7 vector"), 1) << text;
}

TEST(DefaultSchedule, IterationsWithManyResultsAreOneVectorAtOnce) {
  const auto unrolled = [](int results) {
    std::string text = "kernel s\nargument x f32[3,64]\n";
    for (int i = 0; i < results; ++i) {
      absl::StrAppend(&text, "result y", i, " f32[3,64]\n");
    }
    absl::StrAppend(&text, "for i 3\n| for j 64\n");
    for (int i = 0; i < results; ++i) {
      absl::StrAppend(&text, "| | y", i, "[i,j] = x[i,j] * ", i + 1, ".0\n");
    }
    return Count(ScheduledText(text), "unrolled");
  };
  EXPECT_EQ(unrolled(3), 1);
  EXPECT_EQ(unrolled(4), 0);
}

// Three of three stores with that stride are interleaved, two are not.
TEST(DefaultSchedule, StoresWithoutGapsBetweenThemAreVectors) {
  const std::string text = R"(kernel interleaved
argument x f32[40,3]
inout y f32[40,3]
for i 40
| y[i,0] = x[i,0]
| y[i,1] = x[i,0] + x[i,1]
)";
  EXPECT_THAT(ScheduledText(text), Not(HasSubstr("vector")));
  EXPECT_THAT(ScheduledText(text + "| y[i,2] = x[i,1] + x[i,2]\n"),
              HasSubstr("vector"));
}

// Two vectors of counts, which the loop around carries on.
TEST(DefaultSchedule, LocalsOfAFewVectorsStayInRegisters) {
  const std::string text = ScheduledText(R"(kernel counts
argument x f32[50]
argument b f32[8]
result y f32[8]
local n f32[8] stack
for i 8
| n[i] = 0.0
for j 50
| for i 8
| | n[i] += select(x[j] < b[i], x[j], b[i])
for i 8
| y[i] = n[i] * n[i]
)");
  EXPECT_EQ(Count(text, "for i0 2 unrolled"), 2);
  EXPECT_THAT(text, HasSubstr("| for i1 2 unrolled\n| | for i2 4 vector"));
}

TEST(DefaultSchedule, ContiguousLoopsMoveInFromAnywhere) {
  const std::string text = ScheduledText(R"(kernel s
argument x f32[5,8]
argument w f32[30]
result y f32[30,8]
for k 8
| for i 5
| | for j 6
| | | y[6*i+j,k] = 0.0
| | | y[6*i+j,k] += x[i,k] * w[6*i+j]
)");
  EXPECT_THAT(text, HasSubstr("4 vector")) << text;
}

TEST(DefaultSchedule, PermutationsAreDoneInBlocksOfVectors) {
  const std::string text = ScheduledText(R"(kernel t
argument x f32[11,3,9]
result y f32[9,3,11]
for i 9
| for j 3
| | for k 11
| | | y[i,j,k] = x[k,j,i]
)");
  EXPECT_THAT(text, HasSubstr(R"(| | | for i3 4 unrolled
| | | | for i4 4 vector
| | | | | y[4*i1+i3,i0,4*i2+i4] = x[4*i2+i4,i0,4*i1+i3]
)"));
}

TEST(DefaultSchedule, PoolsInVectorsOfChannels) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[2,9,11,8]
result y f32[2,5,6,8]
for n 2
| for h 5
| | for i 6
| | | for c 8
| | | | y[n,h,i,c] = -inf
| | | | for k 3
| | | | | for l 3
| | | | | | y[n,h,i,c] max= where(0 <= 2*h+k < 9 and 0 <= 2*i+l < 11, x[n,2*h+k,2*i+l,c], -inf)
)");
  EXPECT_THAT(text, HasSubstr("f32[8] register"));
  EXPECT_THAT(text, HasSubstr("max= x[i0,2*i1+i3,2*i2+i4,4*i5+i6]"));
}

TEST(DefaultSchedule, ReducesShortRowsInBlocksOfThem) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[50,7]
result y f32[50]
for i 50
| y[i] = -inf
| for k 7
| | y[i] max= x[i,k]
)");
  EXPECT_THAT(text, HasSubstr(R"(| for i1 7 unrolled
| | for i2 4 vector
| | | y_local[i2] max= x[4*i0+i2,i1]
)")) << text;
}

// Statistics of channels that are innermost: rows are read along.
TEST(DefaultSchedule, SumsOverRowsAreNotFusedAlongThem) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[40,64]
result y f32[40,64]
local s f32[64] heap
local q f32[64] heap
for c 64
| s[c] = 0.0
| for i 40
| | s[c] += x[i,c]
for c 64
| q[c] = 0.0
| for i 40
| | q[c] += (x[i,c] - s[c]) * (x[i,c] - s[c])
for i 40
| for c 64
| | y[i,c] = x[i,c] * q[c]
)");
  EXPECT_THAT(text, Not(HasSubstr("s[] += "))) << text;
  EXPECT_THAT(text, Not(HasSubstr("q[] += "))) << text;
}

TEST(DefaultSchedule, SumsOverRowsGoAlongThem) {
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(kernel s
argument x f32[64,64]
result y f32[64]
for i 64
| y[i] = 0.0
| for k 64
| | y[i] += x[k,i]
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after,
                            Scheduled(program, SmallVectors(1)));
  EXPECT_THAT(PrintProgram(after), HasSubstr("+= x[8*i0+i2,32*i1+4*i3+i4]"));
}

TEST(DefaultSchedule, SumsOverRowsStayAloneButForTheirEpilogues) {
  const std::string text = ScheduledText(R"(kernel s
argument x bf16[64,64]
argument m bf16[64]
result y bf16[64]
local s f32[64] heap
for i 64
| s[i] = 0.0
| for k 64
| | s[i] += convert(f32, x[k,i] - m[i])
for i 64
| y[i] = convert(bf16, s[i])
)");
  EXPECT_THAT(text, HasSubstr("x[8*i0+i2,32*i1+4*i3+i4] - m["));
}

TEST(DefaultSchedule, OnlyWorkThatPaysForWakingAThreadIsDivided) {
  const auto product = [](int64_t n) {
    return ScheduledText(absl::StrReplaceAll(R"(kernel m
argument a f32[N,N]
argument b f32[N,N]
result c f32[N,N]
for i N
| for j N
| | c[i,j] = 0.0
| | for k N
| | | c[i,j] += a[i,k] * b[k,j]
)",
                                             {{"N", absl::StrCat(n)}}),
                         SmallVectors(2));
  };
  EXPECT_THAT(product(64), Not(HasSubstr("parallel")));
  EXPECT_THAT(product(128), HasSubstr("parallel"));
}

// The code generator interleaves the chains of two vectors that are one.
TEST(DefaultSchedule, VectorsOfPolynomialsAreOfTwoRegisters) {
  constexpr char kMap[] = R"(kernel m
argument x f32[20,160]
result y f32[20,160]
for i 20
| for j 160
| | y[i,j] = $0(x[i,j])
)";
  EXPECT_THAT(ScheduledText(absl::Substitute(kMap, "tanh"), SmallVectors(1)),
              HasSubstr("for i2 2 unrolled\n| | | for i3 8 vector\n"));
  EXPECT_THAT(ScheduledText(absl::Substitute(kMap, "sqrt"), SmallVectors(1)),
              HasSubstr("for i2 4 unrolled\n| | | for i3 4 vector\n"));
}

// A cache of 512 KiB holds 362 rows of the result.
TEST(DefaultSchedule, StreamsResultsThatNoCacheHolds) {
  const auto scheduled = [](int rows) {
    return ScheduledText(absl::Substitute(R"(
kernel negate
argument x f32[$0,362]
result y f32[$0,362]
for i $0
| for j 362
| | y[i,j] = negate(x[i,j])
)",
                                          rows));
  };
  EXPECT_THAT(scheduled(362), Not(HasSubstr("nontemporal")));
  EXPECT_THAT(scheduled(363), HasSubstr("nontemporal"));
}

}  // namespace
}  // namespace hone::loops

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "loops/text/text.h"
#include "tests/backends/native_program.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExpectMatchesInterpreter;
using ::hone::testing::ExpectTextMatchesInterpreter;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EmitterTest, ExamplesMatchTheInterpreter) {
  for (const auto& example : testing::ExamplePrograms()) {
    SCOPED_TRACE(example.name);
    const loops::Program program = testing::ParseExample(example.name);
    ExpectMatchesInterpreter(program, testing::NormalArguments(program));
  }
}

class RandomProgramTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomProgramTest, MatchesTheInterpreter) {
  constexpr uint64_t kPrograms = 25;
  for (uint64_t i = 0; i < kPrograms && !HasFatalFailure(); ++i) {
    const uint64_t seed = GetParam() * kPrograms + i;
    SCOPED_TRACE(seed);
    const loops::Program program = testing::RandomProgram(seed);
    ExpectMatchesInterpreter(program, testing::RandomArguments(program, seed),
                             1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramTest,
                         ::testing::Range<uint64_t>(0, 8));

TEST(EmitterTest, VectorsWithTailsAreMasked) {
  // 37 = 2 · 16 + 5: nothing behind the end may be read or written.
  ExpectTextMatchesInterpreter(R"(
kernel tail
argument x f32[37]
argument p pred[37]
argument n s8[37]
result y f32[37]
result q pred[37]
result m s8[37]
for i 3
| for v 16 < 37-16*i vector
| | y[16*i+v] = exponential(x[16*i+v]) if (p[16*i+v])
| | y[16*i+v] = 1.0 if (not(p[16*i+v]))
| | q[16*i+v] = not(p[16*i+v])
| | m[16*i+v] = n[16*i+v] * n[16*i+v]
)");
}

TEST(EmitterTest, VectorsOfAnyLength) {
  for (const int lanes : {1, 2, 3, 5, 7, 8, 17, 64, 129, 1000, 4097}) {
    SCOPED_TRACE(lanes);
    ExpectTextMatchesInterpreter(
        absl::StrReplaceAll(R"(
kernel lanes
argument x f32[LANES]
result y f32[LANES]
result s f32[]
for v LANES vector
| y[v] = x[v] * 2.0 + 1.0
s[] = 1.0
for v LANES vector
| s[] += x[v]
)",
                            {{"LANES", absl::StrCat(lanes)}})
            .c_str());
  }
}

TEST(EmitterTest, RegisterTileOfAMatrixProduct) {
  ExpectTextMatchesInterpreter(R"(
kernel tile
argument a f32[13,21]
argument b f32[21,35]
result c f32[13,35]
for it 4
| for jt 3
| | local acc f32[4,2,8] register
| | for i 4 unrolled
| | | for j 2 unrolled
| | | | for v 8 vector
| | | | | acc[i,j,v] = 0.0
| | for k 21
| | | for i 4 < 13-4*it unrolled
| | | | for j 2 unrolled
| | | | | for v 8 < 35-16*jt-8*j vector
| | | | | | acc[i,j,v] += a[4*it+i,k] * b[k,16*jt+8*j+v]
| | for i 4 < 13-4*it unrolled
| | | for j 2 unrolled
| | | | for v 8 < 35-16*jt-8*j vector
| | | | | c[4*it+i,16*jt+8*j+v] = acc[i,j,v]
)");
}

TEST(EmitterTest, EveryReductionOfLanes) {
  for (const char* type : {"f32", "f64", "bf16", "s32", "u8", "s64", "pred"}) {
    for (const char* op : {"+=", "*=", "min=", "max=", "and=", "or=", "xor="}) {
      const bool is_float = type[0] == 'f' || type[0] == 'b';
      const bool is_bitwise = op[0] == 'a' || op[0] == 'o' || op[0] == 'x';
      if (is_float && is_bitwise) continue;
      SCOPED_TRACE(absl::StrCat(type, " ", op));
      ExpectTextMatchesInterpreter(
          absl::StrReplaceAll(R"(
kernel reduction
argument x TYPE[5,43]
argument first TYPE[5]
result y TYPE[5]
result z TYPE[]
for i 5
| y[i] = first[i]
| for j 3
| | for v 16 < 43-16*j vector
| | | y[i] OP x[i,16*j+v]
z[] = first[0]
for i 5 unrolled
| for v 43 vector
| | z[] OP x[i,v]
)",
                              {{"TYPE", type}, {"OP", op}})
              .c_str());
    }
  }
}

TEST(EmitterTest, ReductionsKeepPartialSumsOverLoops) {
  // Four rows at once, two vectors each, and a second use of the sums inside
  // the outer loop.
  ExpectTextMatchesInterpreter(R"(
kernel rows
argument x f32[24,64]
result s f32[24]
result y f32[24,64]
for i 6
| for u 4 unrolled
| | s[4*i+u] = 0.0
| for j 4
| | for u 4 unrolled
| | | for w 2 unrolled
| | | | for v 8 vector
| | | | | s[4*i+u] += x[4*i+u,16*j+8*w+v]
| for u 4 unrolled
| | for j 64 vector
| | | y[4*i+u,j] = x[4*i+u,j] / s[4*i+u]
)");
}

TEST(EmitterTest, SumsThatAreReadInTheLoopStayInMemory) {
  ExpectTextMatchesInterpreter(R"(
kernel running
argument x f32[9,16]
result s f32[]
result y f32[9]
s[] = 0.0
for i 9
| for v 16 vector
| | s[] += x[i,v]
| y[i] = s[]
)");
}

TEST(EmitterTest, RangesGuardLoads) {
  ExpectTextMatchesInterpreter(R"(
kernel pad
argument x f32[6,10]
result y f32[8,32]
result z f32[8,10]
for i 8
| for v 32 vector
| | y[i,v] = where(0 <= i-1 < 6 and 0 <= v-3 < 10, x[i-1,v-3], -1.0)
| for v 10 vector
| | z[i,v] = where(1 <= i < 7, x[i-1,v], x[2,v])
)");
}

TEST(EmitterTest, RangesOnlyGuardWhatIsTaken) {
  // Both sides are out of bounds where the other is taken; one is the same in
  // all lanes.
  ExpectTextMatchesInterpreter(R"(
kernel halves
argument a f32[4]
argument b f32[12]
result y f32[16]
result z f32[2,8]
for v 16 vector
| y[v] = where(0 <= v < 4, a[v], b[v-4])
for i 2
| for v 8 vector
| | z[i,v] = where(0 <= i < 1 and 2 <= v < 4, a[2*i] + 1.0, b[i] * 2.0)
)");
}

TEST(EmitterTest, StridesOfEverySign) {
  ExpectTextMatchesInterpreter(R"(
kernel strides
argument x f32[8,40]
result reversed f32[40]
result transposed f32[40,8]
result spread f32[24]
for v 40 vector
| reversed[v] = x[2,-v+39]
for i 8
| for v 40 vector
| | transposed[v,i] = x[i,v]
for v 8 vector
| spread[3*v] = x[v,1]
| spread[3*v+1] = x[v,2*v]
| spread[3*v+2] = 7.0
)");
  ExpectTextMatchesInterpreter(R"(
kernel backwards
argument x f32[11]
result y f32[11]
for i 2
| for v 8 < 11-8*i vector
| | y[-8*i-v+10] = x[8*i+v]
)");
}

// Numbers in pairs, such as complex ones: both loads and stores of the pairs
// are of whole vectors.
TEST(EmitterTest, InterleavedNumbers) {
  for (const int lanes : {1, 2, 3, 8, 16, 21, 64, 200}) {
    for (const char* type : {"f32", "f64", "bf16", "s8"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", lanes));
      const std::string text = absl::StrReplaceAll(
          R"(
kernel pairs
argument x TYPE[3,LANES,2]
argument y TYPE[3,LANES,2]
result z TYPE[3,LANES,2]
result w TYPE[3,LANES,2]
for i 3
| for v LANES vector
| | z[i,v,0] = x[i,v,0] * y[i,v,0] - x[i,v,1] * y[i,v,1]
| | z[i,v,1] = x[i,v,0] * y[i,v,1] + x[i,v,1] * y[i,v,0]
| | w[i,v,1] = x[i,v,1]
| | w[i,v,0] = w[i,v,1] + x[i,v,0]
)",
          {{"TYPE", type}, {"LANES", absl::StrCat(lanes)}});
      ExpectTextMatchesInterpreter(text.c_str());
    }
  }
}

// Blocks of pairs of 16 bits, each transposed as one number.
TEST(EmitterTest, TransposedPairs) {
  for (const int rows : {2, 5, 16}) {
    for (const int lanes : {2, 7, 8, 16}) {
      for (const char* type : {"bf16", "s16"}) {
        SCOPED_TRACE(absl::StrCat(type, " ", rows, " ", lanes));
        const std::string text = absl::StrReplaceAll(
            R"(
kernel pairs
argument x TYPE[3,LANES,40]
result y TYPE[3,ROWS,LANES,2]
for i 3
| for k ROWS unrolled
| | for v LANES vector
| | | y[i,k,v,0] = x[i,v,2*k+4]
| | | y[i,k,v,1] = x[i,v,2*k+5]
)",
            {{"TYPE", type},
             {"ROWS", absl::StrCat(rows)},
             {"LANES", absl::StrCat(lanes)}});
        ExpectTextMatchesInterpreter(text.c_str());
      }
    }
  }
}

TEST(EmitterTest, TransposedPairsAreLoadedByRows) {
  const absl::StatusOr<std::string> text =
      EmitLlvmText(loops::ParseProgram(R"(kernel pairs
argument x bf16[16,40]
result y bf16[16,16,2]
for k 16 unrolled
| for v 16 vector
| | y[k,v,0] = x[v,2*k+4]
| | y[k,v,1] = x[v,2*k+5]
)")
                       .value(),
                   "pairs", /*optimized=*/false);
  HONE_ASSERT_OK(text);
  EXPECT_THAT(*text, HasSubstr("load <16 x i32>"));
  EXPECT_THAT(*text, Not(HasSubstr("insertelement <16 x i32>")));
}

TEST(EmitterTest, StoresOfPairsThatDependOnEachOther) {
  ExpectTextMatchesInterpreter(R"(
kernel dependent
argument x f32[32]
result z f32[32,2]
for v 32 vector
| z[v,0] = x[v]
| z[v,1] = z[v,0] + 1.0
)");
  ExpectTextMatchesInterpreter(R"(
kernel guarded
argument x f32[40]
argument p pred[40]
result z f32[40,2]
for i 3
| for v 16 < 40-16*i vector
| | z[16*i+v,0] = 0.0
| | z[16*i+v,1] = x[16*i+v]
| | z[16*i+v,0] = x[16*i+v] if (p[16*i+v])
)");
}

TEST(EmitterTest, StridedLoadsOfTheFirstLanesAreVectors) {
  constexpr char kStrided[] = R"(
kernel strided
argument x f32[57]
argument z f32[7]
result y f32[29]
result few f32[8]
for u 2 unrolled
| for v 16 < 29-16*u vector
| | y[16*u+v] = x[32*u+2*v]
for v 8 vector
| few[v] = 1.0
for v 8 < 3 vector
| few[v] = z[3*v]
)";
  ExpectTextMatchesInterpreter(kStrided);
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::ParseProgram(kStrided));
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      EmitLlvmText(program, "strided", /*optimized=*/false,
                   {.cpu = "x86-64-v4", .features = "+avx512f"}));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
}

TEST(EmitterTest, PairsAreStoredAsVectors) {
  const loops::Program program = loops::ParseProgram(R"(
kernel pairs
argument x f32[64,2]
result z f32[64,2]
for i 4
| for v 16 vector
| | z[16*i+v,0] = x[16*i+v,1]
| | z[16*i+v,1] = x[16*i+v,0]
)")
                                     .value();
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      EmitLlvmText(program, "pairs", /*optimized=*/false,
                   {.cpu = "x86-64-v4", .features = "+avx512f"}));
  EXPECT_THAT(text, HasSubstr("store <32 x float>"));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
}

TEST(EmitterTest, DataDependentPlaces) {
  ExpectTextMatchesInterpreter(R"(
kernel places
argument x f32[8,8]
argument at s32[16]
argument n s64[]
result y f32[16]
result z f32[8]
result count s32[8]
for v 16 vector
| y[v] = x[{at[v]},{n[]}]
for v 8 vector
| z[v] = x[{n[]},v]
for v 8 vector
| count[v] = s32(0)
for v 16 vector
| count[{at[v]}] += s32(1)
)");
}

TEST(EmitterTest, FlatAccessesAndLayouts) {
  ExpectTextMatchesInterpreter(R"(
kernel flat
argument x f32[6,4]
result y f32[4,6]
local t f32[6,4] stack strides {1,8}
for i 6
| for v 4 vector
| | t[i,v] = x[i,v]
for i 3
| for v 8 vector
| | y@[8*i+v] = x@[8*i+v]
for i 6
| for v 4 vector
| | y[v,i] += t[i,v]
)");
}

TEST(EmitterTest, UnrolledLoopsWithBounds) {
  ExpectTextMatchesInterpreter(R"(
kernel unrolled
argument x f32[11]
result y f32[11]
result s f32[]
s[] = 0.0
for i 3
| for u 4 < 11-4*i unrolled
| | y[4*i+u] = x[4*i+u] * 2.0
| | for v 8 vector
| | | s[] += x[v] * y[4*i+u]
)");
}

TEST(EmitterTest, SequentialLoopsWithBounds) {
  ExpectTextMatchesInterpreter(R"(
kernel triangle
argument x f32[9,9]
result y f32[9]
for i 9
| y[i] = 0.0
| for j 9 < i
| | y[i] += x[i,j]
)");
}

TEST(EmitterTest, NothingIsInAnEmptyRange) {
  ExpectTextMatchesInterpreter(R"(
kernel empty
argument x f32[8]
result y f32[8]
result z f32[8]
for i 8
| y[i] = where(5 <= i < 3, x[i], 1.0)
for v 8 vector
| z[v] = where(5 <= v < 3, x[v], 1.0)
)");
}

constexpr char kPrefetching[] = R"(
kernel ahead
argument x f32[20,64]
argument w f32[20]
result y f32[48]
for v 48
| y[v] = 0.0
for i 2
| for k 10 prefetch 6
| | for u 3 unrolled
| | | for v 16 vector
| | | | y[16*u+v] += w[10*i+k] * x[10*i+k,16*u+v]
)";

TEST(EmitterTest, PrefetchingPastTheEndIsHarmless) {
  ExpectTextMatchesInterpreter(kPrefetching);
}

TEST(EmitterTest, PrefetchesEachLineOnce) {
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::ParseProgram(kPrefetching));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string text,
                            EmitLlvmText(program, "ahead", true));
  // Three lines of a row of x; w moves by less than a line.
  size_t calls = 0;
  for (size_t at = 0;
       (at = text.find("call void @llvm.prefetch", at)) != std::string::npos;
       ++at) {
    ++calls;
  }
  EXPECT_EQ(calls, 3u) << text;
}

TEST(EmitterTest, EmptyLoopsDoNothing) {
  ExpectTextMatchesInterpreter(R"(
kernel empty
argument x f32[0]
result y f32[0]
result z f32[]
z[] = 3.0
for v 0 vector
| y[v] = x[v]
)");
}

TEST(EmitterTest, AccumulatorsAreValuesInTheOptimisedCode) {
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::ParseProgram(R"(
kernel tile
argument a f32[64,4]
argument b f32[64,16]
result c f32[4,16]
local acc f32[4,2,8] register
for i 4 unrolled
| for j 2 unrolled
| | for v 8 vector
| | | acc[i,j,v] = 0.0
for k 64
| for i 4 unrolled
| | for j 2 unrolled
| | | for v 8 vector
| | | | acc[i,j,v] += a[k,i] * b[k,8*j+v]
for i 4 unrolled
| for j 2 unrolled
| | for v 8 vector
| | | c[i,8*j+v] = acc[i,j,v]
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string plain,
                            EmitLlvmText(program, "tile", false));
  EXPECT_THAT(plain, HasSubstr("alloca"));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string text,
                            EmitLlvmText(program, "tile", true));
  EXPECT_THAT(text, Not(HasSubstr("alloca")));
  EXPECT_THAT(text, HasSubstr("phi <8 x float>"));
}

// Rows of 12 elements in steps of 16: the last vector of each is masked.
constexpr char kIncompleteTile[] = R"(
kernel tile
argument a f32[64,3]
argument b f32[64,12]
result c f32[3,12]
local acc f32[3,12] register strides {16,1}
for i 3 unrolled
| for j 2 unrolled
| | for v 8 < 12-8*j vector
| | | acc[i,8*j+v] = 0.0
for k 64
| for i 3 unrolled
| | for j 2 unrolled
| | | for v 8 < 12-8*j vector
| | | | acc[i,8*j+v] += a[k,i] * b[k,8*j+v]
for i 3 unrolled
| for j 2 unrolled
| | for v 8 < 12-8*j vector
| | | c[i,8*j+v] = acc[i,8*j+v]
)";

TEST(EmitterTest, MaskedAccumulatorsAreValuesInTheOptimisedCode) {
  ExpectTextMatchesInterpreter(kIncompleteTile);
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::ParseProgram(kIncompleteTile));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string text,
                            EmitLlvmText(program, "tile", true));
  EXPECT_THAT(text, Not(HasSubstr("alloca")));
  EXPECT_THAT(text, HasSubstr("phi <8 x float>"));
}

// Blocks of every size, whole and incomplete, of each width of element.
TEST(EmitterTest, TransposesBlocksInRegisters) {
  for (const char* type : {"f32", "f64", "bf16", "s8", "pred"}) {
    for (const int rows : {2, 3, 4, 8, 9, 16}) {
      for (const int lanes : {2, 4, 5, 8, 16}) {
        SCOPED_TRACE(absl::StrCat(type, " ", rows, " x ", lanes));
        ExpectTextMatchesInterpreter(
            absl::StrReplaceAll(R"(
kernel transpose
argument x TYPE[40,20]
result y TYPE[20,40]
result z TYPE[20,40]
for i 20
| for j 40
| | y[i,j] = x[0,0]
| | z[i,j] = x[0,0]
for i ROWS unrolled
| for j LANES vector
| | y[i+1,j+2] = x[j+2,i+1]
| | z[i+1,j+2] = x[2*LANES-2*j,i]
)",
                                {{"TYPE", type},
                                 {"ROWS", absl::StrCat(rows)},
                                 {"LANES", absl::StrCat(lanes)}})
                .c_str());
      }
    }
  }
}

TEST(EmitterTest, TransposedBlocksSeeWhatTheirLoopWrites) {
  ExpectTextMatchesInterpreter(R"(
kernel transpose
argument x f32[8,8]
result y f32[8,8]
for i 8
| for j 8
| | y[i,j] = x[i,j]
for i 8 unrolled
| for j 8 vector
| | y[i,j] = x[j,i] + 0.5 * y[j,i]
)");
}

TEST(EmitterTest, TransposesLoadVectors) {
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::ParseProgram(R"(
kernel transpose
argument x f32[8,8]
result y f32[8,8]
for i 8 unrolled
| for j 8 vector
| | y[i,j] = x[j,i]
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string text,
                            EmitLlvmText(program, "transpose", true));
  EXPECT_THAT(text, HasSubstr("load <8 x float>"));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
  EXPECT_THAT(text, Not(HasSubstr("load float")));
}

// Vectors that the result is strided along, in tiles of every size.
TEST(EmitterTest, StoresTransposedTiles) {
  for (const char* type : {"f32", "f64", "bf16", "pred"}) {
    for (const int rows : {2, 5, 6, 16}) {
      for (const int lanes : {4, 7, 16}) {
        SCOPED_TRACE(absl::StrCat(type, " ", rows, " x ", lanes));
        ExpectTextMatchesInterpreter(
            absl::StrReplaceAll(R"(
kernel tile
argument x TYPE[20,40]
result y TYPE[40,20]
for i 40
| for j 20
| | y[i,j] = x[j,i]
for i ROWS unrolled
| for k 2 unrolled
| | for j LANES vector
| | | y[LANES*k+j+1,i+3] = x[i,LANES*k+j+2]
)",
                                {{"TYPE", type},
                                 {"ROWS", absl::StrCat(rows)},
                                 {"LANES", absl::StrCat(lanes)}})
                .c_str());
      }
    }
  }
}

// What a lane stores may be what it carries from step to step; other rows of
// the result are read in the same loop.
TEST(EmitterTest, StoresTransposedRunningMaxima) {
  for (const char* read : {"x[v,i]", "y[v,i+1]", "y[v,i]"}) {
    SCOPED_TRACE(read);
    ExpectTextMatchesInterpreter(
        absl::StrReplaceAll(
            R"(
kernel lines
argument x f32[7,9]
result y f32[7,9]
local m f32[7] register
for v 7
| m[v] = -inf
| for i 9
| | y[v,i] = x[v,8-i]
for i 8 unrolled
| for v 7 vector
| | m[v] = maximum(m[v], READ)
| | y[v,i] = m[v] - 1.0
)",
            {{"READ", read}, {"for v 7\n", "for v 7 unrolled\n"}})
            .c_str());
  }
}

// Vectors of any length are rounded to bf16 by vectors that the instruction
// has.
TEST(EmitterTest, RoundsVectorsOfAnyLengthToBf16) {
  for (const int lanes : {1, 2, 3, 7, 8, 9, 15, 16, 20, 32}) {
    SCOPED_TRACE(lanes);
    const std::string text =
        absl::StrReplaceAll(R"(
kernel product
argument x bf16[40]
argument y bf16[40]
result z bf16[40]
for i 40
| z[i] = x[i]
for v LANES vector
| z[v+3] = x[v+2] * y[v] - y[v+1]
)",
                            {{"LANES", absl::StrCat(lanes)}});
    ExpectTextMatchesInterpreter(text.c_str());
  }
}

TEST(EmitterTest, VectorsMayBeEmpty) {
  ExpectTextMatchesInterpreter(R"(
kernel empty
argument x f32[4]
result y f32[4]
for i 4 unrolled
| for j 4 vector
for i 4
| y[i] = x[i]
)");
}

// LLVM takes one element of vectors of bfloat after the other to change a sign.
TEST(EmitterTest, SignsOfRoundedNumbersAreThoseOfFloats) {
  const loops::Program program = loops::ParseProgram(R"(
kernel signs
argument x f32[16]
argument y bf16[16]
result z bf16[16]
for v 16 vector
| z[v] = convert(bf16, negate(x[v])) * abs(negate(y[v] + y[v]))
)")
                                     .value();
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      EmitLlvmText(program, "signs", /*optimized=*/true,
                   {.cpu = "sapphirerapids",
                    .features = "+avx512f,+avx512vl,+avx512bf16"}));
  EXPECT_THAT(text, HasSubstr("cvtneps2bf16"));
  EXPECT_THAT(text, Not(HasSubstr("fneg <16 x bfloat>")));
  EXPECT_THAT(text, Not(HasSubstr("fabs.v16bf16")));
}

TEST(EmitterTest, InterleavedStoresOfAnyTypeAndLength) {
  for (int lanes : {2, 5, 16, 32}) {
    for (const char* type : {"bf16", "s8", "f32", "pred"}) {
      ExpectTextMatchesInterpreter(absl::Substitute(R"(
kernel interleave
argument x $0[4,$1]
result y $0[$1,2]
result z $0[$1,3]
result w $0[$1,4]
for v $1 vector
| y[v,0] = x[0,v]
| y[v,1] = where(0 <= v < 4, x[1,v], x[2,v])
| z[v,0] = x[2,v]
| z[v,1] = x[1,v]
| z[v,2] = x[0,v]
| w[v,0] = x[3,v]
| w[v,1] = x[1,v]
| w[v,2] = x[0,v]
| w[v,3] = x[2,v]
)",
                                                    type, lanes)
                                       .c_str());
    }
  }
}

TEST(EmitterTest, NamesWhatItCannotDo) {
  loops::Program program("complex");
  loops::Buffer buffer;
  buffer.name = "z";
  buffer.type = hlo::ElementType::kC64;
  buffer.memory = loops::Memory::kResult;
  loops::Access target;
  target.buffer = program.AddBuffer(buffer);
  loops::Statement statement;
  statement.target = target;
  statement.value = loops::Expression::Constant(hlo::ElementType::kC64, 1.0);
  program.mutable_body().emplace_back(
      std::make_shared<const loops::Statement>(statement));
  EXPECT_THAT(CompileProgram(program, "complex"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("c64")));
}

}  // namespace
}  // namespace hone::backends

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/loops/program_text.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::loops {
namespace {

using ::hone::testing::Canonical;
using ::hone::testing::CheckSame;
using ::hone::testing::ParseText;

struct Blocks {
  int64_t nc, kc, mc, rows, columns, lanes;
};

std::string Matmul(int64_t m, int64_t k, int64_t n) {
  return absl::StrReplaceAll(
      R"(kernel matmul
argument a f32[M,K]
argument b f32[K,N]
result c f32[M,N]
for i M
| for j N
| | c[i,j] = 0.0
| | for k K
| | | c[i,j] += a[i,k] * b[k,j]
)",
      {{"M", absl::StrCat(m)}, {"K", absl::StrCat(k)}, {"N", absl::StrCat(n)}});
}

std::string Script(absl::string_view name, const Blocks& blocks) {
  std::stringstream text;
  text << std::ifstream(absl::StrCat(HONE_SOURCE_DIR,
                                     "/tests/loops/transforms/schedules/", name,
                                     ".script"))
              .rdbuf();
  return absl::StrReplaceAll(text.str(),
                             {{"{nc}", absl::StrCat(blocks.nc)},
                              {"{kc}", absl::StrCat(blocks.kc)},
                              {"{mc}", absl::StrCat(blocks.mc)},
                              {"{rows}", absl::StrCat(blocks.rows)},
                              {"{columns}", absl::StrCat(blocks.columns)},
                              {"{lanes}", absl::StrCat(blocks.lanes)}});
}

absl::StatusOr<Program> Scheduled(const std::string& text,
                                  absl::string_view script,
                                  const Blocks& blocks) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Step> steps,
                        ParseScript(Script(script, blocks)));
  return ApplyScript(ParseText(text), steps);
}

TEST(MatmulSchedule, BlocksPacksAndTiles) {
  const absl::StatusOr<Program> program =
      Scheduled(Matmul(96, 32, 256), "matmul", {128, 16, 24, 6, 64, 16});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(PrintProgram(*program), Canonical(R"(kernel matmul
argument a f32[96,32]
argument b f32[32,256]
result c f32[96,256]
for i0 96
| for i1 16
| | for i2 16 vector
| | | c[i0,16*i1+i2] = 0.0
for i0 2
| for i1 2
| | local b_copy f32[2,16,4,16] stack
| | for i2 2
| | | for i3 16
| | | | for i4 4
| | | | | for i5 16 vector
| | | | | | b_copy[i2,i3,i4,i5] = b[16*i1+i3,128*i0+64*i2+16*i4+i5]
| | for i2 4
| | | local a_copy f32[4,16,6] stack
| | | for i3 4
| | | | for i4 16
| | | | | for i5 6 unrolled
| | | | | | a_copy[i3,i4,i5] = a[24*i2+6*i3+i5,16*i1+i4]
| | | for i3 2
| | | | for i4 4
| | | | | local c_local f32[6,64] register
| | | | | for i5 6 unrolled
| | | | | | for i6 4 unrolled
| | | | | | | for i7 16 vector
| | | | | | | | c_local[i5,16*i6+i7] = c[24*i2+6*i4+i5,128*i0+64*i3+16*i6+i7]
| | | | | for i5 16
| | | | | | for i6 6 unrolled
| | | | | | | for i7 4 unrolled
| | | | | | | | for i8 16 vector
| | | | | | | | | c_local[i6,16*i7+i8] += a_copy[i4,i5,i6] * b_copy[i3,i5,i7,i8]
| | | | | for i5 6 unrolled
| | | | | | for i6 4 unrolled
| | | | | | | for i7 16 vector
| | | | | | | | c[24*i2+6*i4+i5,128*i0+64*i3+16*i6+i7] = c_local[i5,16*i6+i7]
)"));
}

TEST(MatmulSchedule, TilesOneBlock) {
  const absl::StatusOr<Program> program =
      Scheduled(Matmul(12, 16, 32), "matmul_one_block", {0, 0, 0, 3, 8, 4});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(PrintProgram(*program), Canonical(R"(kernel matmul
argument a f32[12,16]
argument b f32[16,32]
result c f32[12,32]
local a_copy f32[4,16,3] stack
for i0 4
| for i1 16
| | for i2 3 unrolled
| | | a_copy[i0,i1,i2] = a[3*i0+i2,i1]
for i0 4
| local b_copy f32[16,2,4] stack
| for i1 16
| | for i2 2
| | | for i3 4 vector
| | | | b_copy[i1,i2,i3] = b[i1,8*i0+4*i2+i3]
| for i1 4
| | local c_local f32[3,8] register
| | for i2 3 unrolled
| | | for i3 2 unrolled
| | | | for i4 4 vector
| | | | | c_local[i2,4*i3+i4] = 0.0
| | for i2 16
| | | for i3 3 unrolled
| | | | for i4 2 unrolled
| | | | | for i5 4 vector
| | | | | | c_local[i3,4*i4+i5] += a_copy[i1,i2,i3] * b_copy[i2,i4,i5]
| | for i2 3 unrolled
| | | for i3 2 unrolled
| | | | for i4 4 vector
| | | | | c[3*i1+i2,8*i0+4*i3+i4] = c_local[i2,4*i3+i4]
)"));
}

// Neither blocks nor tiles divide: the last ones have bounds.
TEST(MatmulSchedule, ComputesTheSameForOddSizes) {
  const int64_t sizes[][3] = {
      {12, 16, 32}, {13, 19, 37}, {7, 9, 17}, {25, 17, 33}, {11, 16, 31}};
  for (const auto& [m, k, n] : sizes) {
    const std::string text = Matmul(m, k, n);
    const Program before = ParseText(text);
    for (absl::string_view script : {"matmul", "matmul_one_block"}) {
      const absl::StatusOr<Program> after =
          Scheduled(text, script, {16, 8, 6, 3, 8, 4});
      ASSERT_TRUE(after.ok()) << text << after.status();
      // Sums are in the same order.
      EXPECT_EQ(CheckSame(before, *after, /*exact=*/true, 5), absl::OkStatus())
          << PrintProgram(*after);
    }
  }
}

// Without the last tiles, which peel takes off, the tile has no bounds.
TEST(MatmulSchedule, PeelsTheLastTiles) {
  const std::string text = Matmul(25, 16, 65);
  const Program before = ParseText(text);
  absl::StatusOr<Program> after =
      Scheduled(text, "matmul", {32, 8, 12, 3, 8, 4});
  ASSERT_TRUE(after.ok()) << after.status();
  const auto peel = ParseScript("peel 1 2\npeel 1.0.1 2\n");
  ASSERT_TRUE(peel.ok());
  after = ApplyScript(*after, *peel);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(CheckSame(before, *after, /*exact=*/true, 5), absl::OkStatus());
  bool has_bound = false;
  VisitLoops(*after, {1, 0, 1}, [&](const Path&, const Loop& loop) {
    has_bound |= loop.bound.has_value();
  });
  EXPECT_FALSE(has_bound) << PrintProgramWithPaths(*after);
}

}  // namespace
}  // namespace hone::loops

// The work that loop_work.h counts beside the code that is made of the same
// programs.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "costmodels/loop_work.h"
#include "loops/text/text.h"

namespace hone::costmodels {
namespace {

struct WorkAndCode {
  LoopWork work;
  // LLVM IR.
  std::string code;
};

WorkAndCode Of(const std::string& text, bool optimized = false) {
  const loops::Program program = loops::ParseProgram(text).value();
  backends::CompileOptions options;
  options.cpu = "sapphirerapids";
  options.features = "+avx512f,+avx512vl,+avx512bf16,+avx512vnni";
  loops::Machine machine;
  machine.vector_bytes = 64;
  machine.has_bf16_dot = true;
  machine.has_integer_dot = true;
  return {
      CountLoopWork(program, machine),
      backends::EmitLlvmText(program, "kernel", optimized, options).value()};
}

bool HasForm(const LoopWork& work, AccessForm form) {
  return std::any_of(
      work.accesses.begin(), work.accesses.end(),
      [&](const AccessWork& access) { return access.form == form; });
}

// `terms` are added to y[i,v] for each k, in 16 lanes unless said otherwise.
struct Sum {
  const char* a;
  const char* b;
  const char* type;
  const char* terms;
  bool is_dot;
};

TEST(LoopCode, DotsAreThoseOfTheCode) {
  constexpr char kFlat[] =
      "convert($2, a[i,2*k]) * convert($2, b[k,v,0])"
      " + convert($2, a[i,2*k+1]) * convert($2, b[k,v,1])";
  constexpr char kApart[] =
      "convert($2, a[i,2*k]) * convert($2, b[2*k,v,0])"
      " + convert($2, a[i,2*k+1]) * convert($2, b[2*k+1,v,0])";
  constexpr char kFour[] =
      "convert($2, a[i,4*k]) * convert($2, b[k,v,0])"
      " + convert($2, a[i,4*k+1]) * convert($2, b[k,v,1])"
      " + convert($2, a[i,4*k+2]) * convert($2, b[k,v,2])"
      " + convert($2, a[i,4*k+3]) * convert($2, b[k,v,3])";
  constexpr char kPlanes[] =
      "convert($2, a[i,2*k]) * convert($2, b[k,0,v])"
      " + convert($2, a[i,2*k+1]) * convert($2, b[k,1,v])";
  constexpr char kColumns[] =
      "convert($2, a[2*k,i]) * convert($2, b[k,v,0])"
      " + convert($2, a[2*k+1,i]) * convert($2, b[k,v,1])";
  constexpr char kSwapped[] =
      "convert($2, a[i,2*k+1]) * convert($2, b[k,v,1])"
      " + convert($2, a[i,2*k]) * convert($2, b[k,v,0])";
  const std::vector<Sum> sums = {
      {"bf16[8,64]", "bf16[32,16,2]", "f32", kFlat, true},
      // The two steps of the sum are 16 elements apart.
      {"bf16[8,64]", "bf16[32,2,16]", "f32", kPlanes, false},
      {"bf16[8,64]", "bf16[64,16,1]", "f32", kApart, false},
      {"bf16[64,8]", "bf16[32,16,2]", "f32", kColumns, false},
      // Lanes have further elements between them.
      {"bf16[8,64]", "bf16[32,16,3]", "f32", kFlat, false},
      {"bf16[8,64]", "bf16[32,16,2]", "f32", kSwapped, false},
      {"f16[8,64]", "f16[32,16,2]", "f32", kFlat, false},
      {"s8[8,64]", "s8[32,16,2]", "s32", kFlat, true},
      {"s8[8,64]", "s16[32,16,2]", "s32", kFlat, true},
      {"u8[8,128]", "s8[32,16,4]", "s32", kFour, true},
      {"s8[8,128]", "s8[32,16,4]", "s32", kFour, false},
      // Four have one instruction only for bytes, of which one is unsigned.
      {"s8[8,128]", "s16[32,16,4]", "s32", kFour, false},
  };
  constexpr char kProgram[] = R"(kernel k
argument a $0
argument b $1
inout y $2[8,16]
for i 8
| for k 32
| | for v 16 vector
| | | y[i,v] += $3
)";
  for (const Sum& sum : sums) {
    const std::string text =
        absl::Substitute(kProgram, sum.a, sum.b, sum.type,
                         absl::StrReplaceAll(sum.terms, {{"$2", sum.type}}));
    SCOPED_TRACE(text);
    const WorkAndCode got = Of(text);
    EXPECT_EQ(got.work.statements[0].is_dot, sum.is_dot);
    EXPECT_EQ(absl::StrContains(got.code, "dpbf16ps") ||
                  absl::StrContains(got.code, "vpdp"),
              sum.is_dot);
  }
}

// Along a row each lane has a sum of its own, which is a vector register; that
// must have as many lanes as an instruction.
TEST(LoopCode, DotsAlongRowsAreThoseOfTheCode) {
  constexpr char kProgram[] = R"(kernel k
argument a bf16[4096]
argument b bf16[4096]
inout y f32[8]
for i 8
| for k 4
| | for v $0$1
| | | y[i] += convert(f32, a[512*i+64*k+2*v]) * convert(f32, b[64*k+2*v]) + convert(f32, a[512*i+64*k+2*v+1]) * convert(f32, b[64*k+2*v+1])
)";
  for (const bool is_vector : {false, true}) {
    for (const int lanes : {2, 4, 6, 8, 16, 32}) {
      const std::string text =
          absl::Substitute(kProgram, lanes, is_vector ? " vector" : "");
      SCOPED_TRACE(text);
      const WorkAndCode got = Of(text);
      EXPECT_EQ(got.work.statements[0].is_dot,
                is_vector && (lanes == 4 || lanes == 8 || lanes == 16));
      EXPECT_EQ(got.work.statements[0].is_dot,
                absl::StrContains(got.code, "dpbf16ps"));
    }
  }
}

// Loads of lanes far apart are gathers, if they are not transposed.
TEST(LoopCode, TransposedLoadsAreThoseOfTheCode) {
  constexpr char kTransposed[] = R"(kernel k
argument x f32[64,64]
result y f32[64,64]
for i0 4
| for i1 4
| | for i2 16 unrolled
| | | for i3 16 vector
| | | | y[16*i1+i2,16*i0+i3] = x[16*i0+i3,16*i1+i2]
)";
  const auto changed = [&](const char* from, const char* to) {
    return absl::StrReplaceAll(kTransposed, {{from, to}});
  };
  const std::vector<std::pair<std::string, bool>> programs = {
      {kTransposed, true},
      {changed("for i2 16 unrolled", "for i2 16"), false},
      {changed("for i2 16 unrolled", "for i2 1 unrolled"), false},
      {changed("for i2 16 unrolled", "for i2 5 unrolled"), true},
      {changed("for i3 16 vector", "for i3 8 vector"), true},
      {changed("f32", "bf16"), true},
      {changed("x[16*i0+i3,16*i1+i2]", "x[16*i1+i2,16*i0+i3]"), false},
      {changed("x[16*i0+i3,16*i1+i2]", "x[16*i0+i3,8*i1+2*i2]"), false},
      {changed("x[16*i0+i3,16*i1+i2]", "x[16*i0+i3,16*i1+15-i2]"), false},
      // Only where it is inside.
      {changed("= x[16*i0+i3,16*i1+i2]",
               "= where(0 <= i0+i3-3 < 9, x[16*i0+i3,16*i1+i2], 0.0)"),
       false},
  };
  for (const auto& [text, is_transposed] : programs) {
    SCOPED_TRACE(text);
    const WorkAndCode got = Of(text);
    EXPECT_EQ(got.work.accesses[0].form == AccessForm::kTransposed,
              is_transposed);
    const bool is_adjacent =
        got.work.accesses[0].form == AccessForm::kContiguous;
    EXPECT_EQ(absl::StrContains(got.code, "masked.gather"),
              !is_transposed && !is_adjacent);
  }
}

// Stores of lanes far apart take the lanes out of their vector one by one, if
// they are not transposed.
TEST(LoopCode, TransposedStoresAreThoseOfTheCode) {
  constexpr char kTransposed[] = R"(kernel k
argument x f32[64,64]
inout y f32[64,64]
for i0 4
| for i1 4
| | for i2 16 unrolled
| | | for i3 16 vector
| | | | y[16*i0+i3,16*i1+i2] = x[16*i1+i2,16*i0+i3]
)";
  constexpr char kBetween[] = R"(kernel k
argument x f32[6,2,16]
result y f32[2,16,6]
for i0 6 unrolled
| for i1 2 unrolled
| | for i2 16 vector
| | | y[i1,i2,i0] = x[i0,i1,i2]
)";
  constexpr char kTwo[] = R"(kernel k
argument x f32[16,16]
result z f32[16,16]
result y f32[16,16]
for i0 16 unrolled
| for i1 16 vector
| | z[i0,i1] = x[i0,i1]
| | y[i1,i0] = x[i0,i1]
)";
  const auto changed = [&](const char* from, const char* to) {
    return absl::StrReplaceAll(kTransposed, {{from, to}});
  };
  const std::vector<std::pair<std::string, bool>> programs = {
      {kTransposed, true},
      {kBetween, true},
      {kTwo, true},
      {changed("for i2 16 unrolled", "for i2 16"), false},
      {changed("for i2 16 unrolled", "for i2 7 unrolled"), true},
      {changed("y[16*i0+i3,16*i1+i2] =", "y[16*i0+i3,16*i1+i2] +="), false},
      {changed("= x[16*i1+i2,16*i0+i3]",
               "= x[16*i1+i2,16*i0+i3] + y[16*i0+i3,16*i1+i2]"),
       false},
      {changed("y[16*i0+i3,16*i1+i2]", "y[16*i0+i3,8*i1+2*i2]"), false},
  };
  for (const auto& [text, is_transposed] : programs) {
    SCOPED_TRACE(text);
    const WorkAndCode got = Of(text);
    EXPECT_EQ(got.work.accesses.back().form == AccessForm::kTransposed,
              is_transposed);
    EXPECT_EQ(absl::StrContains(got.code, "extractelement"), !is_transposed);
  }
}

// Vectors whose lanes are adjacent in a register buffer are registers; others
// are put together of single elements, or stay in memory.
TEST(LoopCode, RegistersAreThoseOfTheCode) {
  constexpr char kProgram[] = R"(kernel k
argument x f32[32,64]
result y f32[4,16]
local t f32[4,16] register strides $0
for i0 4 unrolled
| for i1 16 vector
| | t[i0,i1] = 0.0
for i0 32
| for i1 4 unrolled
| | for i2 16 vector
| | | t[i1,i2] += x[i0,16*i1+i2]
for i0 4 unrolled
| for i1 16 vector
| | y[i0,i1] = t[i0,i1]
)";
  for (const char* strides : {"{16,1}", "{2,8}"}) {
    const std::string text = absl::Substitute(kProgram, strides);
    SCOPED_TRACE(text);
    const WorkAndCode got = Of(text, /*optimized=*/true);
    const bool is_adjacent = std::string(strides) == "{16,1}";
    EXPECT_EQ(HasForm(got.work, AccessForm::kRegister), is_adjacent);
    EXPECT_EQ(HasForm(got.work, AccessForm::kScattered), !is_adjacent);
    EXPECT_EQ(absl::StrContains(got.code, "alloca") ||
                  absl::StrContains(got.code, "insertelement") ||
                  absl::StrContains(got.code, "masked.gather"),
              !is_adjacent);
  }
}

TEST(LoopCode, StoresThatBypassCachesAreThoseOfTheCode) {
  constexpr char kCopy[] = R"(kernel k
argument x f32[160,16]
result y f32[160,16]
for i0 10
| for i1 16 unrolled
| | for i2 16 vector
| | | y[16*i0+i1,i2] = x[16*i0+i1,i2] nontemporal
)";
  const auto changed = [&](const char* from, const char* to) {
    return absl::StrReplaceAll(kCopy, {{from, to}});
  };
  const std::vector<std::pair<std::string, bool>> programs = {
      {kCopy, true},
      {changed(" nontemporal", ""), false},
      {changed("16 vector", "16"), false},
      // Vectors in the opposite order, transposed ones, and single lanes.
      {changed("y[16*i0+i1,i2]", "y[16*i0+i1,15-i2]"), true},
      {changed("y[16*i0+i1,i2]", "y[16*i0+i2,i1]"), false},
      {changed("y[16*i0+i1,i2]", "y[i2,i0]"), false},
      // Masked ones at the end.
      {changed("16 vector", "16 < 150-16*i0 vector"), true},
  };
  for (const auto& [text, bypasses] : programs) {
    SCOPED_TRACE(text);
    const WorkAndCode got = Of(text);
    EXPECT_EQ(got.work.accesses[1].non_temporal, bypasses);
    EXPECT_EQ(absl::StrContains(got.code, "!nontemporal"), bypasses);
  }
}

// Vectors with all of their lanes have code of their own, without masks.
TEST(LoopCode, MasksAreThoseOfTheCode) {
  constexpr char kProgram[] = R"(kernel k
argument x f32[160]
result y f32[160]
for i0 10$0
| for i1 16$1 vector
| | y[16*i0+i1] = x[16*i0+i1]
)";
  struct Masked {
    const char* bound;
    double share;
  };
  const std::vector<Masked> bounds = {{"", 0},
                                      {" < 9", 1},
                                      {" < 16", 0},
                                      {" < 160-16*i0", 0},
                                      {" < 159-16*i0", 0.1},
                                      {" < 100-16*i0", 0.4}};
  for (const char* mode : {"", " unrolled"}) {
    for (const Masked& masked : bounds) {
      const std::string text = absl::Substitute(kProgram, mode, masked.bound);
      SCOPED_TRACE(text);
      const WorkAndCode got = Of(text);
      EXPECT_DOUBLE_EQ(got.work.statements[0].masked_share, masked.share);
      EXPECT_EQ(absl::StrContains(got.code, "masked.store"), masked.share > 0);
    }
  }
}

}  // namespace
}  // namespace hone::costmodels

#include "backends/cpu/in_place.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/export/export.h"
#include "backends/cpu/native_module.h"
#include "base/rng.h"
#include "base/temporary_directory.h"
#include "hlo/text/parser.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"
#include "tests/backends/exported_library.h"
#include "tests/backends/native_program.h"
#include "tests/loops/program_text.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExportedLibrary;
using ::hone::testing::ParseText;

bool MayRunInPlace(const loops::Program& program) {
  return InPlaceAnalysis(program).MayRunInPlace(0, 0);
}

bool MayRun(const std::string& body) {
  return MayRunInPlace(
      ParseText(absl::StrCat("kernel k\nargument x f32[40]\n"
                             "argument z f32[40]\n"
                             "result y f32[40]\n",
                             body)));
}

TEST(InPlace, ElementwiseKernelsMay) {
  EXPECT_TRUE(MayRun("for i 40\n| y[i] = x[i] * x[i] + z[i]\n"));
  EXPECT_TRUE(
      MayRun("for i 10 parallel\n| for j 4 vector\n| | y[4*i+j] = x[4*i+j]\n"));
  // Adam's moments: what is written is read again for another result.
  EXPECT_TRUE(
      MayRun("result u f32[40]\nfor i 40\n| y[i] = x[i] * 2.0\n"
             "| u[i] = y[i] + z[i]\n"));
  // The argument is not read.
  EXPECT_TRUE(MayRun("for i 40\n| y[i] = z[i]\n"));
}

TEST(InPlace, OthersMayNot) {
  // Reads elements of other iterations, or of other statements.
  EXPECT_FALSE(MayRun("for i 40\n| y[i] = x[39-i]\n"));
  EXPECT_FALSE(MayRun("for i 40\n| y[39-i] = x[39-i] + x[0]\n"));
  EXPECT_FALSE(MayRun("for i 40\n| y[i] = x[i]\nfor i 40\n| y[i] += x[i]\n"));
  EXPECT_FALSE(
      MayRun("for i 40\n| y[i] = 0.0\n| for j 40\n| | y[i] += x[j]\n"));
  EXPECT_FALSE(MayRun("for i 40\n| y[i] = x[i]\n| y[i] += x[i]\n"));
}

TEST(InPlace, OtherShapesMayNot) {
  EXPECT_FALSE(
      MayRunInPlace(ParseText("kernel k\nargument x f32[4]\n"
                              "result y f32[8]\n"
                              "for i 8\n| y[i] = 1.0\n")));
  EXPECT_FALSE(
      MayRunInPlace(ParseText("kernel k\nargument x s32[8]\n"
                              "result y f32[8]\n"
                              "for i 8\n| y[i] = 1.0\n")));
}

// A step of training: two weights are updated, one of which is read again by a
// later kernel; a third result has nothing to do with them.
constexpr char kStep[] =
    R"(HloModule step, input_output_alias={ {1,0}: (0, {1}, may-alias), {0}: (1, {}), {1,1}: (0, {0}, must-alias) }

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  weights = (f32[64], f32[64]) parameter(0)
  v = f32[64] get-tuple-element(weights), index=0
  w = f32[64] get-tuple-element(weights), index=1
  x = f32[64] parameter(1)
  half = f32[] constant(0.5)
  halves = f32[64] broadcast(half), dimensions={}
  less = f32[64] multiply(w, halves)
  zero = f32[] constant(0)
  total = f32[] reduce(v, zero), dimensions={0}, to_apply=add
  totals = f32[64] broadcast(total), dimensions={}
  turned = f32[64] reverse(x), dimensions={0}
  next = f32[64] add(v, totals)
  updated = (f32[64], f32[64]) tuple(less, next)
  ROOT all = (f32[64], (f32[64], f32[64])) tuple(turned, updated)
}
)";

TEST(Donations, OfAModuleMayAllBeTaken) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module, hlo::ParseHloText(kStep));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::ModulePlan plan,
                            LowerAndSchedule(module, 2));
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/train_step.so";
  HONE_ASSERT_OK(ExportModule(module, plan, 2, path));
  const ExportedLibrary library(path);
  std::vector<float> given[3];
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 64; ++j) {
      given[i].push_back(static_cast<float>((i + 3) * j % 11));
    }
  }
  std::vector<float> expected[3] = {
      std::vector<float>(64), std::vector<float>(64), std::vector<float>(64)};
  const auto call = [&](const std::vector<EntryAlias>& same,
                        std::vector<float>(&results)[3]) {
    std::vector<float> copies[3] = {given[0], given[1], given[2]};
    const void* from[] = {copies[0].data(), copies[1].data(), copies[2].data()};
    void* to[] = {results[0].data(), results[1].data(), results[2].data()};
    for (const EntryAlias& alias : same) {
      to[alias.result] = copies[alias.argument].data();
    }
    const int32_t error = library.Call(nullptr, from, to);
    for (const EntryAlias& alias : same) {
      results[alias.result] = copies[alias.argument];
    }
    return error;
  };
  ASSERT_EQ(call({}, expected), HONE_OK);
  std::vector<EntryAlias> allowed;
  for (int32_t i = 0; i < library.info().num_aliases; ++i) {
    allowed.push_back(
        {library.info().aliases[i].argument, library.info().aliases[i].result});
  }
  // The reversal, of argument 2, reads elements that it has overwritten.
  EXPECT_THAT(allowed,
              ::testing::UnorderedElementsAre(
                  EntryAlias{1, 1}, EntryAlias{2, 0}, EntryAlias{0, 2}));
  std::vector<float> results[3] = {expected[2], expected[2], expected[2]};
  ASSERT_EQ(call(allowed, results), HONE_OK);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(results[i], expected[i]) << i;
  // A part of a pair is no pair.
  EXPECT_EQ(call({{0, 1}}, results), HONE_ERROR_ALIAS);
}

// Kernels of random access patterns: where running in place is allowed, it
// gives the same.
TEST(InPlace, GivesTheSameWhereItIsAllowed) {
  Rng rng(11);
  int allowed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto access = [&](bool simple) -> std::string {
      if (simple || rng.Below(3) == 0) return "x[i,j]";
      switch (rng.Below(4)) {
        case 0:
          return "x[23-i,j]";
        case 1:
          return "x[i,19-j]";
        case 2:
          return "x[0,j]";
        default:
          return "x[i,0]";
      }
    };
    const bool simple = rng.Below(2) == 0;
    std::string text =
        "kernel k\nargument x f32[24,20]\nargument z f32[24,20]\n"
        "result y f32[24,20]\nfor i 24\n| for j 20\n";
    absl::StrAppend(&text, "| | y[i,j] = ", access(simple), " * z[i,j] + ",
                    access(simple), "\n");
    if (rng.Below(4) == 0) {
      absl::StrAppend(
          &text, "for i 24\n| for j 20\n| | y[i,j] += ", access(true), "\n");
    }
    loops::Program program = ParseText(text);
    loops::Machine machine = DetectHost().machine;
    machine.threads = 2;
    HONE_ASSERT_OK_AND_ASSIGN(
        program,
        loops::ApplyScript(program, loops::DefaultSchedule(program, machine)));
    if (!MayRunInPlace(program)) continue;
    ++allowed;
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/k.so";
    HONE_ASSERT_OK(ExportKernel(program, 2, path));
    const ExportedLibrary library(path);
    std::vector<float> x(480);
    for (size_t j = 0; j < x.size(); ++j) x[j] = static_cast<float>(j * 7 % 31);
    const std::vector<float> z(480, 3.0f);
    std::vector<float> y(480);
    const void* arguments[] = {x.data(), z.data()};
    void* results[] = {y.data()};
    void* same[] = {x.data()};
    ASSERT_EQ(library.Call(nullptr, arguments, results), HONE_OK);
    ASSERT_EQ(library.Call(nullptr, arguments, same), HONE_OK) << text;
    EXPECT_EQ(x, y) << text;
  }
  EXPECT_GT(allowed, 15);
}

}  // namespace
}  // namespace hone::backends

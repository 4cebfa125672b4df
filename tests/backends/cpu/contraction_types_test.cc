// Differential tests: dots, convolutions and sums of every type, with the
// default schedules of several machines, against the evaluator.

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "backends/cpu/host.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/backends/native_program.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

// The host, and a machine with short vectors and little else.
std::vector<loops::Machine> Machines() {
  loops::Machine small;
  small.vector_bytes = 16;
  return {DetectHost().machine, small};
}

void ExpectNativeRight(const std::string& text) {
  SCOPED_TRACE(text);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module, hlo::ParseHloText(text));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::LowerToProgram(module));
  for (const loops::Machine& machine : Machines()) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const loops::Program scheduled,
        loops::ApplyScript(program, loops::DefaultSchedule(program, machine)));
    for (hlo::ArgumentKind kind :
         {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kAdversarial}) {
      HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> arguments,
                                hlo::MakeArguments(module, kind, 1));
      HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                                hlo::Evaluate(module, arguments));
      HONE_ASSERT_OK_AND_ASSIGN(
          const std::vector<hlo::Literal> results,
          ::hone::testing::RunNative(scheduled, arguments));
      const hlo::Comparison comparison =
          hlo::CompareLiterals(expected, results[0]);
      EXPECT_TRUE(comparison.equal)
          << "element " << comparison.worst.element << ": "
          << comparison.worst.b << ", expected " << comparison.worst.a << '\n'
          << loops::PrintProgramWithPaths(scheduled);
    }
  }
}

struct Types {
  const char* lhs;
  const char* rhs;
  const char* result;
};

constexpr Types kTypes[] = {
    {"f32", "f32", "f32"},  {"f64", "f64", "f64"},   {"bf16", "bf16", "bf16"},
    {"f16", "f16", "f16"},  {"bf16", "bf16", "f32"}, {"f16", "f16", "f32"},
    {"bf16", "f32", "f32"}, {"s8", "s8", "s32"},     {"u8", "u8", "s32"},
    {"u8", "s8", "s32"},    {"s8", "u8", "s32"},     {"s16", "s16", "s32"},
    {"s32", "s32", "s32"},  {"s8", "s8", "s8"},      {"u16", "s16", "s32"},
    {"s8", "s8", "f32"},    {"u8", "u8", "u32"}};

class ContractionTypes : public ::testing::TestWithParam<Types> {};

TEST_P(ContractionTypes, DotsOfAnyShape) {
  struct Dot {
    int64_t m, k, n;
    bool lhs_transposed, rhs_transposed;
  };
  for (const Dot& dot :
       {Dot{1, 64, 48, false, false}, Dot{5, 1, 33, true, false},
        Dot{7, 2, 70, false, true}, Dot{33, 67, 129, false, false},
        Dot{33, 67, 129, true, true}, Dot{64, 130, 64, false, true},
        Dot{20, 600, 40, true, false}, Dot{30, 450, 6, false, true},
        Dot{5, 321, 30, false, true}}) {
    ExpectNativeRight(absl::StrReplaceAll(
        R"(HloModule m
ENTRY e {
  a = LHS[A] parameter(0)
  b = RHS[B] parameter(1)
  ROOT d = RESULT[M,N] dot(a, b), lhs_contracting_dims={LC}, rhs_contracting_dims={RC}
})",
        {{"LHS", GetParam().lhs},
         {"RHS", GetParam().rhs},
         {"RESULT", GetParam().result},
         {"[A]", dot.lhs_transposed
                     ? absl::StrCat("[", dot.k, ",", dot.m, "]")
                     : absl::StrCat("[", dot.m, ",", dot.k, "]")},
         {"[B]", dot.rhs_transposed
                     ? absl::StrCat("[", dot.n, ",", dot.k, "]")
                     : absl::StrCat("[", dot.k, ",", dot.n, "]")},
         {"[M,N]", absl::StrCat("[", dot.m, ",", dot.n, "]")},
         {"{LC}", dot.lhs_transposed ? "{0}" : "{1}"},
         {"{RC}", dot.rhs_transposed ? "{1}" : "{0}"}}));
  }
}

TEST_P(ContractionTypes, BatchedDotsWithAnEpilogue) {
  ExpectNativeRight(absl::StrReplaceAll(
      R"(HloModule m
ENTRY e {
  a = LHS[3,19,24] parameter(0)
  b = RHS[3,24,37] parameter(1)
  c = RESULT[3,37,19] parameter(2)
  d = RESULT[3,19,37] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  t = RESULT[3,37,19] transpose(d), dimensions={0,2,1}
  ROOT s = RESULT[3,37,19] add(t, c)
})",
      {{"LHS", GetParam().lhs},
       {"RHS", GetParam().rhs},
       {"RESULT", GetParam().result}}));
}

TEST_P(ContractionTypes, TransposedConvolutions) {
  for (const auto& [features, sizes, window, result] :
       {std::tuple(40, "3,3", "size=3x3 pad=2_2x2_2 lhs_dilate=2x2", "11,25"),
        {3, "1,4", "size=1x4 pad=0_0x2_3 lhs_dilate=2x3", "9,36"},
        {24, "2,2", "size=2x2 pad=1_1x1_1 lhs_dilate=1x4", "6,46"}}) {
    ExpectNativeRight(absl::StrReplaceAll(
        R"(HloModule m
ENTRY e {
  x = LHS[2,6,5,12] parameter(0)
  w = RHS[FEATURES,6,SIZES] parameter(1)
  ROOT c = TYPE[2,FEATURES,POSITIONS] convolution(x, w), window={WINDOW}, dim_labels=bf01_oi01->bf01
})",
        {{"LHS", GetParam().lhs},
         {"RHS", GetParam().rhs},
         {"TYPE", GetParam().result},
         {"FEATURES", absl::StrCat(features)},
         {"SIZES", sizes},
         {"POSITIONS", result},
         {"WINDOW", window}}));
  }
}

TEST_P(ContractionTypes, Convolutions) {
  ExpectNativeRight(absl::StrReplaceAll(
      R"(HloModule m
ENTRY e {
  x = LHS[2,9,11,6] parameter(0)
  w = RHS[3,3,6,40] parameter(1)
  ROOT c = RESULT[2,9,11,40] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
})",
      {{"LHS", GetParam().lhs},
       {"RHS", GetParam().rhs},
       {"RESULT", GetParam().result}}));
}

INSTANTIATE_TEST_SUITE_P(All, ContractionTypes, ::testing::ValuesIn(kTypes),
                         [](const auto& tested) {
                           return absl::StrCat(tested.param.lhs, "_",
                                               tested.param.rhs, "_",
                                               tested.param.result);
                         });

TEST(SumTypes, RowsColumnsAndWindows) {
  for (const char* type : {"f32", "bf16", "f16", "f64", "s32"}) {
    for (const char* body :
         {"ROOT s = T[37] reduce(x, i), dimensions={1}, to_apply=add",
          "ROOT s = T[70] reduce(x, i), dimensions={0}, to_apply=add",
          "ROOT s = T[] reduce(x, i), dimensions={0,1}, to_apply=add",
          "ROOT s = T[35,69] reduce-window(x, i), window={size=3x2}, "
          "to_apply=add",
          "r = T[37] reduce(x, i), dimensions={1}, to_apply=add\n"
          "  b = T[37,70] broadcast(r), dimensions={0}\n"
          "  ROOT s = T[37,70] subtract(x, b)",
          "r = T[70] reduce(x, i), dimensions={0}, to_apply=add\n"
          "  b = T[37,70] broadcast(r), dimensions={1}\n"
          "  c = T[37,70] subtract(x, b)\n"
          "  d = T[37,70] multiply(c, c)\n"
          "  q = T[70] reduce(d, i), dimensions={0}, to_apply=add\n"
          "  ROOT s = T[70] negate(q)"}) {
      ExpectNativeRight(absl::StrReplaceAll(absl::StrCat(R"(HloModule m
add {
  a = T[] parameter(0)
  b = T[] parameter(1)
  ROOT s = T[] add(a, b)
}
ENTRY e {
  x = T[37,70] parameter(0)
  i = T[] constant(0)
  )",
                                                         body, "\n}\n"),
                                            {{"T[", absl::StrCat(type, "[")}}));
    }
  }
}

}  // namespace
}  // namespace hone::backends

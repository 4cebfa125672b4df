#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/host.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"
#include "tests/backends/native_program.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;

hlo::Module TopK(absl::string_view type, int64_t rows, int64_t size, int64_t k,
                 bool largest) {
  return hlo::ParseHloText(absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[$1,$2] parameter(0)
  ROOT t = ($0[$1,$3], s32[$1,$3]) topk(x), k=$3, largest=$4
})",
                                            type, rows, size, k,
                                            largest ? "true" : "false"))
      .value();
}

loops::Program Scheduled(const hlo::Module& module, int64_t vector_bytes) {
  const loops::Program program = loops::LowerToProgram(module).value();
  loops::Machine machine = DetectHost().machine;
  machine.vector_bytes = vector_bytes;
  return loops::ApplyScript(program, loops::DefaultSchedule(program, machine))
      .value();
}

// Rows of numbers of 1, 2, 8, 100 and many distinct values, among them zeros of
// both signs, infinities and NaN.
constexpr int64_t kDistinct[] = {1, 2, 8, 100, 1 << 20};
constexpr int64_t kRows = std::size(kDistinct);

hlo::Literal Numbers(absl::string_view type, int64_t size) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {0.0, -0.0, kNan, -kInfinity, -kNan, kInfinity};
  hlo::Literal x(
      hlo::Shape::Array(hlo::ParseElementType(type).value(), {kRows, size}));
  uint64_t state = 1;
  for (int64_t i = 0; i < kRows * size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int64_t number =
        static_cast<int64_t>(state >> 33) % kDistinct[i / size];
    const bool is_special = number % 7 == 0 && number / 7 < 6;
    x.SetDouble(i, is_special ? special[number / 7]
                              : (static_cast<double>(number) - 20) / 8);
  }
  return x;
}

// Equal numbers in the order of their places, also where the k-th is one of
// many.
TEST(NativeTopK, ComputesWhatTheEvaluatorDoes) {
  const std::pair<int64_t, int64_t> cases[] = {
      {64, 40},    {100, 33},  {129, 128}, {288, 66},  {580, 32},
      {1003, 100}, {2000, 25}, {4096, 30}, {5000, 512}};
  for (const auto& [size, k] : cases) {
    for (const char* type : {"f32", "bf16", "f64"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", size, " ", k));
      const hlo::Module module = TopK(type, kRows, size, k, k % 2 == 0);
      const std::vector<hlo::Literal> x = {Numbers(type, size)};
      HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                                hlo::Evaluate(module, x));
      HONE_ASSERT_OK_AND_ASSIGN(
          const std::vector<hlo::Literal> results,
          ::hone::testing::RunNative(
              Scheduled(module, DetectHost().machine.vector_bytes), x));
      for (int64_t i = 0; i < kRows * k; ++i) {
        ASSERT_EQ(expected.elements()[1].AsInt(i), results[1].AsInt(i)) << i;
      }
    }
  }
}

TEST(NativeTopK, ListsByVectors) {
  CompileOptions options;
  options.cpu = "x86-64-v3";
  options.features = "+avx2";
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      EmitLlvmText(Scheduled(TopK("f32", 3, 580, 32, true), 32), "k", false,
                   options));
  EXPECT_THAT(text, HasSubstr("permd"));
}

}  // namespace
}  // namespace hone::backends

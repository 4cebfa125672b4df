#ifndef HONE_TESTS_TUNING_SAMPLE_MODULES_H_
#define HONE_TESTS_TUNING_SAMPLE_MODULES_H_

#include <utility>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/ir/module.h"
#include "hlo/text/parser.h"

namespace hone::tuning {

// Something for algsimp (x + 0), cse (two equal products) and dce (unused).
inline constexpr absl::string_view kSimplifiable = R"(
HloModule simplifiable

ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  sum = f32[4] add(x, zeros)
  a = f32[4] multiply(sum, sum)
  b = f32[4] multiply(sum, sum)
  unused = f32[4] exponential(x)
  ROOT result = (f32[4], f32[4]) tuple(a, b)
}
)";

inline hlo::Module ParseOrDie(absl::string_view text) {
  absl::StatusOr<hlo::Module> module = hlo::ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::Status verified = hlo::VerifyModule(*module);
  EXPECT_TRUE(verified.ok()) << verified;
  return *std::move(module);
}

}  // namespace hone::tuning

#endif  // HONE_TESTS_TUNING_SAMPLE_MODULES_H_

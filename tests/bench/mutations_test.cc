#include "bench/verification/mutations.h"

#include <optional>

#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

// A module with a place for every kind of mistake.
constexpr char kModule[] = R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  step = s32[] parameter(1)
  p = pred[8] parameter(2)
  half = f32[] constant(0.5)
  h = f32[8] broadcast(half), dimensions={}
  a = f32[8] add(x, h)
  s = f32[6] slice(a), slice={[1:7]}
  d = f32[8] divide(x, a)
  m = f32[8] select(p, d, x)
  ROOT t = (f32[6], f32[8]) tuple(s, m)
})";

class MutateEach : public ::testing::TestWithParam<absl::string_view> {};

TEST_P(MutateEach, MakesAModuleThatVerificationRefuses) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(kModule));
  Rng rng(3);
  const std::optional<Mutation> mutation = Mutate(module, GetParam(), rng);
  ASSERT_TRUE(mutation.has_value());
  HONE_EXPECT_OK(hlo::VerifyModule(mutation->module));
  EXPECT_NE(hlo::Fingerprint(module), hlo::Fingerprint(mutation->module));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::EquivalenceReport report,
                            hlo::CheckEquivalent(module, mutation->module));
  EXPECT_FALSE(report.equal) << mutation->description;
}

INSTANTIATE_TEST_SUITE_P(All, MutateEach, ::testing::ValuesIn(MutationKinds()));

TEST(Mutate, NeedsAPlace) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(R"(HloModule m
ENTRY e {
  ROOT x = f32[8] parameter(0)
})"));
  Rng rng(1);
  EXPECT_FALSE(Mutate(module, "dropped term", rng).has_value());
}

}  // namespace
}  // namespace hone::bench

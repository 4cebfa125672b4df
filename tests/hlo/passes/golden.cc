#include "tests/hlo/passes/golden.h"

#include <utility>

#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {

Module ParseForTest(absl::string_view text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  HONE_EXPECT_OK(module);
  if (!module.ok()) return Module();
  HONE_EXPECT_OK(VerifyModule(*module)) << text;
  return *std::move(module);
}

void ExpectRewrites(absl::string_view pass_name, absl::string_view before,
                    absl::string_view after) {
  const Module input = ParseForTest(before);
  const Module expected = ParseForTest(after);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(pass_name));
  Module output = input;
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(output));
  EXPECT_TRUE(changed);
  HONE_EXPECT_OK(VerifyModule(output)) << PrintModule(output);
  EXPECT_EQ(Fingerprint(output), Fingerprint(expected))
      << "got\n"
      << PrintModule(output) << "\nexpected\n"
      << PrintModule(expected);
  absl::StatusOr<EquivalenceReport> report = CheckEquivalent(input, output);
  if (absl::IsUnimplemented(report.status())) return;
  HONE_ASSERT_OK(report);
  EXPECT_TRUE(report->equal) << report->explanation;
}

void ExpectUnchanged(absl::string_view pass_name, absl::string_view text) {
  const Module input = ParseForTest(text);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(pass_name));
  Module output = input;
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(output));
  EXPECT_FALSE(changed) << PrintModule(output);
  for (ComputationId id = 0; id < input.computation_slots(); ++id) {
    EXPECT_TRUE(Module::SharesComputation(input, output, id)) << id;
  }
}

}  // namespace hone::hlo

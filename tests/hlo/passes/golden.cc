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
                    absl::string_view after, const RewriteOptions& options) {
  const Module input = ParseForTest(before);
  const Module expected = ParseForTest(after);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(pass_name));
  Module output = input;
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(output, options));
  EXPECT_TRUE(changed);
  HONE_EXPECT_OK(VerifyModule(output)) << PrintModule(output);
  EXPECT_EQ(Fingerprint(output), Fingerprint(expected))
      << "got\n"
      << PrintModule(output) << "\nexpected\n"
      << PrintModule(expected);
  EquivalenceOptions equivalence;
  equivalence.extreme_scalars = options.numerics != Numerics::kFast;
  absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(input, output, equivalence);
  if (absl::IsUnimplemented(report.status())) return;
  HONE_ASSERT_OK(report);
  EXPECT_TRUE(report->equal) << report->explanation;
}

void ExpectUnchanged(absl::string_view pass_name, absl::string_view text,
                     const RewriteOptions& options) {
  const Module input = ParseForTest(text);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(pass_name));
  Module output = input;
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(output, options));
  EXPECT_FALSE(changed) << PrintModule(output);
  ASSERT_EQ(output.computation_slots(), input.computation_slots());
  for (ComputationId id : input.ComputationIds()) {
    EXPECT_TRUE(Module::SharesComputation(input, output, id)) << id;
  }
}

Module ExpectKeepsMeaning(absl::string_view pass_name, absl::string_view text,
                          const RewriteOptions& options) {
  const Module input = ParseForTest(text);
  const absl::StatusOr<const Pass*> pass = FindPass(pass_name);
  HONE_EXPECT_OK(pass);
  if (!pass.ok()) return input;
  Module output = input;
  const absl::StatusOr<bool> changed = (*pass)->Run(output, options);
  HONE_EXPECT_OK(changed);
  EXPECT_TRUE(changed.ok() && *changed) << text;
  HONE_EXPECT_OK(VerifyModule(output)) << PrintModule(output);
  EquivalenceOptions equivalence;
  equivalence.extreme_scalars = options.numerics != Numerics::kFast;
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(input, output, equivalence);
  HONE_EXPECT_OK(report);
  if (report.ok()) {
    EXPECT_TRUE(report->equal) << report->explanation << PrintModule(output);
  }
  Module again = output;
  const absl::StatusOr<bool> changed_again = (*pass)->Run(again, options);
  EXPECT_TRUE(changed_again.ok() && !*changed_again) << PrintModule(again);
  return output;
}

}  // namespace hone::hlo

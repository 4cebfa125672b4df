#include "tests/hlo/passes/control_flow/run_pass.h"

#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {

namespace {

std::string Run(absl::string_view pass_name, absl::string_view text,
                bool evaluate) {
  const Module input = ParseForTest(text);
  const absl::StatusOr<const Pass*> pass = FindPass(pass_name);
  HONE_EXPECT_OK(pass);
  if (!pass.ok()) return "";
  Module output = input;
  RewriteOptions options;
  options.verify_rewrites = true;
  const absl::StatusOr<bool> changed = (*pass)->Run(output, options);
  HONE_EXPECT_OK(changed);
  if (!changed.ok()) return "";
  const PrintOptions print = {.layouts = false};
  const std::string result = PrintModule(output, print);
  HONE_EXPECT_OK(VerifyModule(output)) << result;
  if (!*changed) {
    EXPECT_EQ(PrintModule(input, print), result);
  }
  EXPECT_EQ(Fingerprint(ParseForTest(result)), Fingerprint(output)) << result;
  if (!evaluate) return result;
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(input, output);
  if (absl::IsUnimplemented(report.status())) return result;
  HONE_EXPECT_OK(report);
  EXPECT_TRUE(report.ok() && report->equal) << result;
  return result;
}

}  // namespace

std::string RunPass(absl::string_view pass_name, absl::string_view text) {
  return Run(pass_name, text, /*evaluate=*/true);
}

std::string RunPassOnly(absl::string_view pass_name, absl::string_view text) {
  return Run(pass_name, text, /*evaluate=*/false);
}

}  // namespace hone::hlo

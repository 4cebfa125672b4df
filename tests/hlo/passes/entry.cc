#include "tests/hlo/passes/entry.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

bool CallsRegion(absl::string_view body) {
  return absl::StrContains(body, "to_apply=");
}

}  // namespace

std::string Entry(absl::string_view body) {
  return absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}\n");
}

std::string EntryWithRegions(absl::string_view body) {
  constexpr absl::string_view kRegions = R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
maximum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}
)";
  return absl::StrCat(kRegions, "ENTRY e {\n", body, "\n}\n");
}

void ExpectEntryRewrites(absl::string_view pass, absl::string_view before,
                         absl::string_view after,
                         const RewriteOptions& options) {
  // A region that nothing calls any more is still there.
  if (CallsRegion(before) || CallsRegion(after)) {
    ExpectRewrites(pass, EntryWithRegions(before), EntryWithRegions(after),
                   options);
  } else {
    ExpectRewrites(pass, Entry(before), Entry(after), options);
  }
}

void ExpectEntryUnchanged(absl::string_view pass, absl::string_view body,
                          const RewriteOptions& options) {
  ExpectUnchanged(
      pass, CallsRegion(body) ? EntryWithRegions(body) : Entry(body), options);
}

std::string PrintedAfter(absl::string_view pass, absl::string_view body) {
  Module module = ParseForTest(EntryWithRegions(body));
  const absl::StatusOr<const Pass*> found = FindPass(pass);
  HONE_EXPECT_OK(found);
  if (!found.ok()) return "";
  const absl::StatusOr<bool> changed = (*found)->Run(module);
  HONE_EXPECT_OK(changed);
  HONE_EXPECT_OK(VerifyModule(module));
  if (!changed.ok() || !*changed) return "";
  const std::string text = PrintModule(module);
  const absl::StatusOr<bool> changed_again = (*found)->Run(module);
  EXPECT_TRUE(changed_again.ok() && !*changed_again) << text;
  return text;
}

}  // namespace hone::hlo

#include "tests/passes/entry.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/passes/golden.h"

namespace hone::hlo {
namespace {

std::string Whole(absl::string_view body) {
  return absl::StrContains(body, "to_apply=") ? EntryWithRegions(body)
                                              : Entry(body);
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
                         absl::string_view after) {
  ExpectRewrites(pass, Whole(before), Whole(after));
}

void ExpectEntryUnchanged(absl::string_view pass, absl::string_view body) {
  ExpectUnchanged(pass, Whole(body));
}

}  // namespace hone::hlo

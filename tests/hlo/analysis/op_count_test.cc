#include "hlo/analysis/op_count.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using testing::CorpusModule;
using testing::CorpusModules;

TEST(CountOps, AgreesWithTheManifestOnEveryCorpusModule) {
  const std::vector<CorpusModule>& modules = CorpusModules();
  ASSERT_EQ(modules.size(), 57u);
  for (const CorpusModule& entry : modules) {
    HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                              ParseHloText(entry.text, entry.name));
    EXPECT_EQ(CountOps(module), entry.ops) << entry.name;
  }
}

int64_t CountText(const std::string& text) {
  const absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? CountOps(*module) : -1;
}

TEST(CountOps, InlinesCallsOncePerSiteAndNotThemselves) {
  EXPECT_EQ(CountText(R"(HloModule m
f {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
}
ENTRY e {
  a = f32[] parameter(0)
  b = f32[] call(a), to_apply=f
  ROOT c = f32[] fusion(b), kind=kLoop, calls=f
})"),
            1 + 2 + 2);
}

TEST(CountOps, CountsControlFlowWithItsBodiesButNoReducer) {
  EXPECT_EQ(CountText(R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
condition {
  s = f32[2] parameter(0)
  ROOT p = pred[] constant(false)
}
body {
  ROOT s = f32[2] parameter(0)
}
ENTRY e {
  a = f32[2] parameter(0)
  w = f32[2] while(a), condition=condition, body=body
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(w, zero), dimensions={0}, to_apply=add
})"),
            4 + 2 + 1);
}

TEST(CountOps, SaturatesWhereCallsDoubleTheCountTooOften) {
  std::string text = "HloModule m\nf0 {\n  ROOT x = f32[] parameter(0)\n}\n";
  for (int i = 1; i <= 70; ++i) {
    absl::StrAppend(&text, "f", i, " {\n  x = f32[] parameter(0)\n",
                    "  y = f32[] call(x), to_apply=f", i - 1,
                    "\n  ROOT z = f32[] call(y), to_apply=f", i - 1, "\n}\n");
  }
  EXPECT_EQ(CountText(text), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace hone::hlo

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/analysis/op_count.h"
#include "hlo/passes/registry.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "slice-hoister";

TEST(SliceHoister, SlicesOperands) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  c = f32[10] add(a, b)
  ROOT s = f32[3] slice(c), slice={[1:7:2]})",
                      R"(
  a = f32[10] parameter(0)
  b = f32[10] parameter(1)
  as = f32[3] slice(a), slice={[1:7:2]}
  bs = f32[3] slice(b), slice={[1:7:2]}
  ROOT s = f32[3] add(as, bs))");
}

TEST(SliceHoister, PassesTransposes) {
  ExpectEntryRewrites(kPass, R"(
  a = f32[4,5,6] parameter(0)
  t = f32[6,4,5] transpose(a), dimensions={2,0,1}
  ROOT s = f32[2,3,1] slice(t), slice={[0:2], [1:4], [4:5]})",
                      R"(
  a = f32[4,5,6] parameter(0)
  s = f32[3,1,2] slice(a), slice={[1:4], [4:5], [0:2]}
  ROOT t = f32[2,3,1] transpose(s), dimensions={2,0,1})");
}

TEST(SliceHoister, KeepsOtherSlices) {
  ExpectEntryUnchanged(kPass, R"(
  a = f32[10] parameter(0)
  n = f32[10] negate(a)
  c = pred[10] compare(a, n), direction=LT
  s = f32[3] slice(n), slice={[0:3]}
  p = pred[3] slice(c), slice={[0:3]}
  ROOT t = (f32[3], pred[3]) tuple(s, p))");
}

// Each value is used twice by the next, so that slicing every use anew would
// make 2^30 slices.
TEST(SliceHoister, SharesSlices) {
  std::string body = "x0 = f32[10] parameter(0)\n";
  for (int i = 0; i < 30; ++i) {
    absl::StrAppend(&body, "y", i, " = f32[10] multiply(x", i, ", x", i, ")\n");
    absl::StrAppend(&body, "z", i, " = f32[10] subtract(x", i, ", x0)\n");
    absl::StrAppend(&body, "x", i + 1, " = f32[10] add(y", i, ", z", i, ")\n");
  }
  absl::StrAppend(&body, "ROOT s = f32[3] slice(x30), slice={[0:3]}\n");
  Module module = ParseForTest(Entry(body));
  const int64_t ops = CountOps(module);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(kPass));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  EXPECT_EQ(CountOps(module), ops);
}

}  // namespace
}  // namespace hone::hlo

#include "hlo/tiles/kernel_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(KernelConfig, IsPrintedAndRead) {
  const KernelConfig config = {
      {{8, 128}, {512}}, GridOrder::kColumn, /*buffers=*/3, /*unroll=*/8};
  const std::string text = PrintKernelConfig(config);
  EXPECT_EQ(text, "output=8,128 reduction=512 order=column buffers=3 unroll=8");
  EXPECT_EQ(*ParseKernelConfig(text), config);
}

TEST(KernelConfig, SizesMayBeNoneAndFlagsDefault) {
  EXPECT_EQ(PrintKernelConfig({}), "order=row buffers=2 unroll=4");
  EXPECT_EQ(*ParseKernelConfig(""), KernelConfig());
  EXPECT_EQ(*ParseKernelConfig("\tunroll=1  output=3\n"),
            (KernelConfig{{{3}, {}}, GridOrder::kRow, 2, 1}));
}

TEST(KernelConfig, ErrorsNameTheKeyAndWhatIsExpected) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"output=8,0", "output=8,0, expected sizes of at least 1"},
      {"output=8,,1", "output=8,,1, expected"},
      {"output=", "output=, expected"},
      {"output=99999999999999999999", "expected sizes"},
      {"reduction=-1", "reduction=-1, expected"},
      {"order=diagonal", "order=diagonal, expected row or column"},
      {"buffers=4", "buffers=4, expected 1 to 3"},
      {"unroll=3", "unroll=3, expected a power of two up to 8"},
      {"unroll=16", "unroll=16, expected a power of two up to 8"},
      {"tile=8", "unknown key \"tile\", expected output, reduction"},
      {"output", "output=, expected"},
      {"unroll=1 unroll=1", "unroll is given twice"},
  };
  for (const auto& each : kCases) {
    EXPECT_THAT(
        ParseKernelConfig(each.text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.message)))
        << each.text;
  }
}

}  // namespace
}  // namespace hone::hlo

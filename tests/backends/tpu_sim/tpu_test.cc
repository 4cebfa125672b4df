#include "backends/tpu_sim/tpu.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/tpu_sim/bundled_tpus.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(Tpu, BundledOnesAreReadAndPrinted) {
  for (const BundledTpu& bundled : BundledTpus()) {
    const auto tpu = FindTpu(bundled.id);
    ASSERT_THAT(tpu, hone::testing::IsOk());
    const auto again = ParseTpu(PrintTpu(*tpu), "printed");
    ASSERT_THAT(again, hone::testing::IsOk());
    EXPECT_EQ(*again, *tpu);
  }
  EXPECT_EQ(FindTpu("v3")->matrix_units, 2);
  EXPECT_GT(FindTpu("v5e")->hbm_bytes_per_second,
            FindTpu("v3")->hbm_bytes_per_second);
}

TEST(Tpu, IsFoundByItsTextOrItsName) {
  EXPECT_EQ(*FindTpu(PrintTpu(*FindTpu("v4"))), *FindTpu("v4"));
  // Requests come from others: no name is a path.
  EXPECT_THAT(FindTpu(HONE_SOURCE_DIR "/backends/tpu_sim/tpus/v4.toml"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("v4.toml")));
  EXPECT_THAT(FindTpu("v9"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("v3, v4, v5e")));
}

TEST(Tpu, ErrorsNameLineKeyAndWhatIsExpected) {
  const std::string good = PrintTpu(*FindTpu("v3"));
  const struct {
    std::string from;
    std::string to;
    std::string message;
  } kCases[] = {
      {"clock_hz = ", "clock_hz = -", "f:2:12: bad value of \"clock_hz\""},
      {"registers = 32", "registers = 32.5", "bad value of \"registers\""},
      {"registers = 32", "registers = 1", "expected an integer from 8 to 4096"},
      {"registers = 32", "", "[vector] has no \"registers\""},
      {"registers = 32", "register = 32", "unknown key \"register\""},
      {"[matrix]", "[tensor]", "unknown table \"tensor\", expected core, hbm"},
      {"[core]", "core = 1\n[other]", "unknown table"},
      {"[core]", "[core", "expected TOML"},
  };
  for (const auto& each : kCases) {
    const std::string text = absl::StrReplaceAll(good, {{each.from, each.to}});
    ASSERT_NE(text, good);
    EXPECT_THAT(
        ParseTpu(text, "f"),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.message)));
  }
  EXPECT_THAT(ParseTpu("", "f"), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("[core] is missing")));
}

}  // namespace
}  // namespace hone::backends

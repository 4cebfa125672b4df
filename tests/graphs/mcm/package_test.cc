#include "graphs/mcm/package.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "graphs/mcm/bundled_packages.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kText[] = R"([chips]
count = 4
flops_per_second = 1e12
bytes_per_second = 2e12
memory_bytes = 32_000_000
op_seconds = 1e-6
spill_bytes_per_second = 4e9
[link]
bytes_per_second = 16e9
latency_seconds = 2e-6
)";

void ExpectError(const char* from, const char* to, const char* message) {
  EXPECT_THAT(ParsePackage(absl::StrReplaceAll(kText, {{from, to}}), "p.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("p.toml:"), HasSubstr(message))))
      << from << " -> " << to;
}

TEST(PackageTest, ReadsEveryKey) {
  HONE_ASSERT_OK_AND_ASSIGN(const Package package,
                            ParsePackage(kText, "p.toml"));
  EXPECT_EQ(package, (Package{4, 1e12, 2e12, 32e6, 1e-6, 4e9, {16e9, 2e-6}}));
}

TEST(PackageTest, BadDescriptionsNameThePlace) {
  ExpectError("count = 4", "count = 65",
              "2:9: bad value of \"count\" in [chips], expected an integer "
              "from 1 to 64");
  ExpectError("count = 4", "count = 4.5", "expected an integer");
  ExpectError("count = 4\n", "", "[chips] has no \"count\"");
  ExpectError("memory_bytes = 32_000_000", "memory_bytes = nan",
              "5:16: bad value");
  ExpectError("[link]", "[ring]", "unknown table \"ring\"");
  ExpectError("op_seconds", "ops", "unknown key \"ops\" in [chips]");
  ExpectError("[link]\nbytes_per_second = 16e9\nlatency_seconds = 2e-6\n", "",
              "[link] is missing");
  ExpectError("[chips]", "[chips", "expected TOML");
  EXPECT_THAT(ParsePackage(std::string(9000, '#'), "p.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("9000 bytes, expected the description of a "
                                 "package, of at most 8192")));
}

TEST(PackageTest, PrintsWhatItReads) {
  for (const BundledPackage& bundled : BundledPackages()) {
    HONE_ASSERT_OK_AND_ASSIGN(const Package package, FindPackage(bundled.id));
    const std::string text = PrintPackage(package);
    EXPECT_THAT(text, Not(AllOf(HasSubstr(";"), HasSubstr("|"))));
    HONE_ASSERT_OK_AND_ASSIGN(const Package again, FindPackage(text));
    EXPECT_EQ(again, package) << bundled.id;
  }
}

TEST(PackageTest, UnknownNamesListTheKnownOnes) {
  EXPECT_THAT(FindPackage("hermosa9000"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("hermosa36")));
}

}  // namespace
}  // namespace hone::graphs

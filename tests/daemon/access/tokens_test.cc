#include "daemon/access/tokens.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/daemon/access/token_file.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(TokenTable, FindsClientsByToken) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const TokenTable table,
      TokenTable::Parse(
          absl::StrCat("# A comment.\n\n  ci  lookup,worker  ", Sha256Hex("x"),
                       "\nroot admin ", Sha256Hex("y"), "\n"),
          "tokens"));
  ASSERT_NE(table.Find("x"), nullptr);
  EXPECT_EQ(table.Find("x")->name, "ci");
  EXPECT_TRUE(table.Find("x")->roles.Has(Role::kLookup));
  EXPECT_TRUE(table.Find("x")->roles.Has(Role::kWorker));
  EXPECT_FALSE(table.Find("x")->roles.Has(Role::kTune));
  EXPECT_FALSE(table.Find("x")->roles.Has(Role::kAdmin));
  ASSERT_NE(table.Find("y"), nullptr);
  EXPECT_TRUE(table.Find("y")->roles.Has(Role::kWorker));
  for (const char* wrong : {"", "z", "X", "x "}) {
    EXPECT_EQ(table.Find(wrong), nullptr) << wrong;
  }
  // Nor by what is in the file.
  EXPECT_EQ(table.Find(Sha256Hex("x")), nullptr);
}

TEST(TokenTable, BadLinesAreErrorsWithTheirPlace) {
  const std::string digest = Sha256Hex("x");
  EXPECT_THAT(TokenTable::Parse("ci lookup\n", "t"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("t:1: 2 words"),
                             HasSubstr("expected NAME ROLE"))));
  EXPECT_THAT(TokenTable::Parse(absl::StrCat("\nci lookup,root ", digest), "t"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("t:2: unknown role \"root\""),
                             HasSubstr("lookup, tune, worker, admin"))));
  EXPECT_THAT(TokenTable::Parse("ci lookup hunter2", "t"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("t:1: "), Not(HasSubstr("hunter2")))));
}

TEST(TokenTable, AFileThatOthersMayChangeIsRefused) {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder.path());
  const std::string path = folder.path() + "/tokens";
  testing::WriteTokens(path, {{"ci", "lookup"}});
  HONE_EXPECT_OK(TokenTable::Read(path));
  std::filesystem::permissions(path, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(TokenTable::Read(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected a file of mode 0600 or 0644")));
  EXPECT_THAT(TokenTable::Read(folder.path()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot be")));
}

}  // namespace
}  // namespace hone::daemon

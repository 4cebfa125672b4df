#include "daemon/names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::testing::HasSubstr;

TEST(NamesTest, IdsComeBack) {
  const std::string id = "0198c4d5-6f.A_z";
  EXPECT_EQ(TuningName(id), "projects/default/tunings/" + id);
  EXPECT_EQ(*TuningId(TuningName(id)), id);
  EXPECT_EQ(*OperationId(OperationName(id)), id);
  EXPECT_EQ(*RecordDigest(RecordName(id)), id);
  EXPECT_EQ(*EnvironmentId(EnvironmentName(id)), id);
}

TEST(NamesTest, MalformedNamesAreRefusedWithTheForm) {
  for (const std::string name :
       {"", "tunings/1", "projects/default/tunings",
        "projects/default/tunings/", "projects//tunings/1",
        "/projects/default/tunings/1", "projects/default/tunings/1/",
        "projects/default/tunings/1/2", "projects/default/records/1",
        "Projects/default/tunings/1", "projects/a b/tunings/1",
        "projects/default/tunings/..", "projects/default/tunings/.hidden",
        "projects/default/tunings/a b", "projects/default/tunings/\n",
        "projects/default/tunings/\xc3\xa9",
        "projects/default/tunings/a%2Fb"}) {
    const auto id = TuningId(name);
    EXPECT_EQ(id.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(id.status().message(),
                HasSubstr("projects/PROJECT/tunings/ID"));
  }
  const std::string prefix = "projects/default/tunings/";
  HONE_EXPECT_OK(TuningId(prefix + std::string(128, 'a')).status());
  EXPECT_TRUE(absl::IsInvalidArgument(
      TuningId(prefix + std::string(129, 'a')).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(TuningId(prefix + std::string(1, 0)).status()));
}

TEST(NamesTest, OtherProjectsAreNotFound) {
  EXPECT_TRUE(absl::IsNotFound(TuningId("projects/other/tunings/1").status()));
  EXPECT_TRUE(absl::IsNotFound(CheckParent("projects/other")));
  EXPECT_TRUE(absl::IsNotFound(CheckParent("projects/-")));
}

TEST(NamesTest, AParentIsAProject) {
  HONE_EXPECT_OK(CheckParent(""));
  HONE_EXPECT_OK(CheckParent("projects/default"));
  for (const std::string parent :
       {"default", "projects", "projects/", "projects/default/",
        "projects/default/tunings", "/projects/default", "projects/a*"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckParent(parent))) << parent;
  }
  EXPECT_THAT(CheckParent("x", "name").message(), HasSubstr("name: "));
}

}  // namespace
}  // namespace hone::daemon

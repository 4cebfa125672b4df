#include "loops/transforms/registry.h"

#include <filesystem>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path kFolder =
    std::filesystem::path(HONE_SOURCE_DIR) / "loops/transforms";

TEST(TransformRegistry, IsSortedAndUnique) {
  for (size_t i = 1; i < AllTransforms().size(); ++i) {
    EXPECT_LT(AllTransforms()[i - 1]->name(), AllTransforms()[i]->name());
  }
}

TEST(TransformRegistry, NamesAreThoseOfTheList) {
#define HONE_TRANSFORM(name_, factory) \
  EXPECT_EQ(factory()->name(), name_); \
  HONE_EXPECT_OK(FindTransform(name_));
#include "loops/transforms/transforms.def"
#undef HONE_TRANSFORM
}

TEST(TransformRegistry, KeepsTheStableNames) {
  std::set<std::string> names;
  for (const Transform* transform : AllTransforms()) {
    names.emplace(transform->name());
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf({"collapse", "fission", "fuse", "reorder",
                                       "parallelize", "peel", "swap", "split",
                                       "tile", "unroll", "vectorize"}));
}

// A source is a transformation or has a header of its own.
TEST(TransformRegistry, ListsEverySource) {
  std::set<std::string> transforms;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(kFolder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".cc") continue;
    const std::string stem = path.stem().string();
    if (!std::filesystem::exists(path.replace_extension(".h"))) {
      transforms.insert(stem);
    }
  }
  std::set<std::string> listed;
  for (const Transform* transform : AllTransforms()) {
    listed.emplace(transform->name());
  }
  EXPECT_EQ(transforms, listed);
}

TEST(TransformRegistry, UnknownNameListsTheKnownOnes) {
  EXPECT_THAT(FindTransform("skew"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("'skew'"), HasSubstr("fission, fuse"))));
}

}  // namespace
}  // namespace hone::loops

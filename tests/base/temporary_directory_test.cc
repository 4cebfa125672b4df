#include "base/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace hone {
namespace {

TEST(TemporaryDirectory, IsNewAndGoesWithItsContent) {
  std::string path;
  {
    const TemporaryDirectory directory;
    const TemporaryDirectory other;
    path = directory.path();
    EXPECT_NE(path, other.path());
    EXPECT_TRUE(std::filesystem::is_empty(path));
    std::ofstream(path + "/file") << "content";
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace hone

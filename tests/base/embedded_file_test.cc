#include "base/embedded_file.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

// NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object file.
HONE_EMBED_FILE(hone_embedded_test, __FILE__);

namespace hone {
namespace {

TEST(EmbeddedFileTest, HasTheBytesOfTheFile) {
  std::ifstream file(__FILE__, std::ios::binary);
  ASSERT_TRUE(file.is_open());
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(HONE_EMBEDDED_FILE(hone_embedded_test), expected);
  EXPECT_EQ(*hone_embedded_test_end, '\0');
  EXPECT_EQ(reinterpret_cast<uintptr_t>(hone_embedded_test) % 16, 0);
}

}  // namespace
}  // namespace hone

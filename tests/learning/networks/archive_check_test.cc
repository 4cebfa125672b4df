#include "learning/networks/archive_check.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include <torch/torch.h>

namespace hone::learning {
namespace {

std::string Archive() {
  torch::serialize::OutputArchive archive;
  archive.write("numbers", torch::arange(100));
  archive.write("more", torch::ones({3, 4}));
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

TEST(IsIntactArchive, AcceptsWhatTorchWrites) {
  EXPECT_TRUE(IsIntactArchive(Archive()));
}

TEST(IsIntactArchive, RefusesWhatIsCut) {
  const std::string bytes = Archive();
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(IsIntactArchive(absl::string_view(bytes).substr(0, length)))
        << length;
  }
}

TEST(IsIntactArchive, SeesChangesOfContent) {
  std::string bytes = Archive();
  const std::string content(reinterpret_cast<const char*>("\x07\0\0\0\0\0\0\0"),
                            8);
  const size_t at = bytes.find(content);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 8;
  EXPECT_FALSE(IsIntactArchive(bytes));
}

// Whatever the bytes say of places and sizes.
TEST(IsIntactArchive, SurvivesAnyByte) {
  const std::string bytes = Archive();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ change);
      IsIntactArchive(broken);
    }
  }
}

}  // namespace
}  // namespace hone::learning

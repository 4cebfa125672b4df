#include "base/chunked_vector.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hone {
namespace {

TEST(ChunkedVector, ReferencesOutliveGrowth) {
  ChunkedVector<std::string, 4> vector;
  EXPECT_TRUE(vector.empty());
  std::vector<std::string*> addresses;
  for (int i = 0; i < 100; ++i) {
    addresses.push_back(&vector.push_back(std::to_string(i)));
  }
  ASSERT_EQ(vector.size(), 100);
  for (size_t i = 0; i < vector.size(); ++i) {
    EXPECT_EQ(&vector[i], addresses[i]);
    EXPECT_EQ(vector[i], std::to_string(i));
  }
}

TEST(ChunkedVector, CopyIsIndependentAndGrowsOn) {
  ChunkedVector<std::string, 4> original;
  for (int i = 0; i < 6; ++i) original.push_back(std::to_string(i));
  ChunkedVector<std::string, 4> copy = original;
  copy[5] = "changed";
  copy.push_back("more");
  EXPECT_EQ(original[5], "5");
  EXPECT_EQ(original.size(), 6);
  EXPECT_EQ(copy.size(), 7);
  EXPECT_EQ(copy[0], "0");
  EXPECT_EQ(copy[6], "more");
  // A partly filled chunk of a copy must not move either.
  const std::string* last = &copy[6];
  copy.push_back("and more");
  EXPECT_EQ(&copy[6], last);

  original = copy;
  EXPECT_EQ(original.size(), 8);
  EXPECT_EQ(original[7], "and more");
}

TEST(ChunkedVector, MoveKeepsAddresses) {
  ChunkedVector<std::string, 4> original;
  const std::string* first = &original.push_back("first");
  const ChunkedVector<std::string, 4> moved = std::move(original);
  EXPECT_EQ(&moved[0], first);
}

}  // namespace
}  // namespace hone

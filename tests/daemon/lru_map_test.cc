#include "daemon/lru_map.h"

#include "gtest/gtest.h"

namespace hone::daemon {
namespace {

TEST(LruMap, DropsWhatWasUsedLongestAgo) {
  LruMap<int> map(2);
  map.Insert("a", 1);
  map.Insert("b", 2);
  EXPECT_EQ(map.Find("a"), 1);
  map.Insert("c", 3);
  EXPECT_EQ(map.Find("b"), std::nullopt);
  EXPECT_EQ(map.Find("a"), 1);
  EXPECT_EQ(map.Find("c"), 3);
}

TEST(LruMap, InsertReplaces) {
  LruMap<int> map(2);
  map.Insert("a", 1);
  map.Insert("a", 2);
  map.Insert("b", 3);
  EXPECT_EQ(map.Find("a"), 2);
  EXPECT_EQ(map.Find("b"), 3);
}

TEST(LruMap, ErasedEntriesAreGone) {
  LruMap<int> map(4);
  map.Insert("a", 1);
  map.Insert("b", 2);
  map.Erase("a");
  EXPECT_EQ(map.Find("a"), std::nullopt);
  map.Clear();
  EXPECT_EQ(map.Find("b"), std::nullopt);
  map.Insert("a", 3);
  EXPECT_EQ(map.Find("a"), 3);
}

}  // namespace
}  // namespace hone::daemon

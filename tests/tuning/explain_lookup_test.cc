#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::testing::HasSubstr;

storage::CacheKey Key() {
  return {.module_fingerprint = "m",
          .target = "hlo",
          .task = "pass_order",
          .task_options = "score=ops",
          .space_version = "1"};
}

void PublishKey(storage::Store& store) {
  storage::Record record;
  record.key = Key();
  record.created = absl::FromUnixSeconds(0);
  HONE_ASSERT_OK(store.Publish(record));
}

TEST(ExplainLookup, EmptyCache) {
  storage::MemoryStore store;
  HONE_ASSERT_OK_AND_ASSIGN(const LookupExplanation explanation,
                            ExplainLookup(store, Key()));
  EXPECT_FALSE(explanation.hit);
  EXPECT_EQ(explanation.summary, "miss: the cache is empty");
  ASSERT_EQ(explanation.components.size(), 5u);
  EXPECT_EQ(explanation.components[0].asked, "m");
  EXPECT_EQ(explanation.components[0].found, "");
  EXPECT_FALSE(explanation.components[0].matches);
}

TEST(ExplainLookup, Hit) {
  storage::MemoryStore store;
  PublishKey(store);
  HONE_ASSERT_OK_AND_ASSIGN(const LookupExplanation explanation,
                            ExplainLookup(store, Key()));
  EXPECT_TRUE(explanation.hit);
  EXPECT_THAT(explanation.summary, HasSubstr("hit: tuned at"));
  for (const LookupExplanation::Component& component : explanation.components) {
    EXPECT_TRUE(component.matches) << component.name;
  }
}

TEST(ExplainLookup, AMissNamesTheComponentThatDiffers) {
  storage::MemoryStore store;
  PublishKey(store);
  struct Case {
    std::string storage::CacheKey::*field;
    std::string name;
  };
  for (const Case& test :
       {Case{&storage::CacheKey::module_fingerprint, "module_fingerprint"},
        Case{&storage::CacheKey::target, "target"},
        Case{&storage::CacheKey::task, "task"},
        Case{&storage::CacheKey::task_options, "task_options"},
        Case{&storage::CacheKey::space_version, "space_version"}}) {
    storage::CacheKey key = Key();
    key.*test.field = "other";
    HONE_ASSERT_OK_AND_ASSIGN(const LookupExplanation explanation,
                              ExplainLookup(store, key));
    EXPECT_FALSE(explanation.hit);
    EXPECT_EQ(explanation.summary,
              "miss: the nearest record differs in " + test.name);
    for (const LookupExplanation::Component& component :
         explanation.components) {
      EXPECT_EQ(component.matches, component.name != test.name);
      if (component.matches) continue;
      EXPECT_EQ(component.asked, "other");
      EXPECT_EQ(component.found, Key().*test.field);
    }
  }
}

}  // namespace
}  // namespace hone::tuning

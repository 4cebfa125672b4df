#include "storage/record.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/storage/samples.h"

namespace hone::storage {
namespace {

TEST(CacheKey, DigestIsStable) {
  // Stored in databases: must never change.
  EXPECT_EQ(SampleKey().Digest(),
            "607ae4b9ff5c90fca3f258f33dcc837b24f133be962515535f11e669e2d1c6b2");
}

TEST(CacheKey, DigestDependsOnEveryComponent) {
  std::set<std::string> digests = {SampleKey().Digest()};
  for (std::string CacheKey::*field :
       {&CacheKey::module_fingerprint, &CacheKey::target, &CacheKey::task,
        &CacheKey::task_options, &CacheKey::space_version}) {
    CacheKey key = SampleKey();
    (key.*field).push_back('x');
    digests.insert(key.Digest());
  }
  EXPECT_EQ(digests.size(), 6u);
}

TEST(CacheKey, DigestKeepsComponentsApart) {
  const CacheKey a = {"", "ab", "", "", ""};
  const CacheKey b = {"a", "b", "", "", ""};
  EXPECT_NE(a.Digest(), b.Digest());
}

TEST(TuningState, NamesRoundTrip) {
  for (TuningState state :
       {TuningState::kPending, TuningState::kRunning, TuningState::kSucceeded,
        TuningState::kFailed, TuningState::kCancelled}) {
    EXPECT_EQ(ParseTuningState(TuningStateName(state)), state);
  }
  EXPECT_EQ(ParseTuningState("done"), std::nullopt);
}

TEST(TuningState, OnlyUnfinishedOnesAreNotTerminal) {
  EXPECT_FALSE(IsTerminal(TuningState::kPending));
  EXPECT_FALSE(IsTerminal(TuningState::kRunning));
  EXPECT_TRUE(IsTerminal(TuningState::kSucceeded));
  EXPECT_TRUE(IsTerminal(TuningState::kFailed));
  EXPECT_TRUE(IsTerminal(TuningState::kCancelled));
}

}  // namespace
}  // namespace hone::storage

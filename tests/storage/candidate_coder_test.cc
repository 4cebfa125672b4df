#include "storage/candidate_coder.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;

space::Candidate Random(size_t size, int64_t values, Rng& rng) {
  space::Candidate candidate;
  for (size_t i = 0; i < size; ++i) {
    candidate.choices.push_back(
        static_cast<int32_t>(rng.Below(static_cast<uint64_t>(values))));
  }
  return candidate;
}

// Encodes and decodes a log; returns the bytes.
std::vector<std::string> RoundTrip(const std::vector<space::Candidate>& log) {
  CandidateCoder encoder;
  CandidateCoder decoder;
  std::vector<std::string> all;
  for (const space::Candidate& candidate : log) {
    all.push_back(encoder.Encode(candidate));
    EXPECT_FALSE(all.back().empty());
    const absl::StatusOr<space::Candidate> decoded = decoder.Decode(all.back());
    EXPECT_THAT(decoded, hone::testing::IsOk());
    if (decoded.ok()) {
      EXPECT_EQ(*decoded, candidate);
    }
  }
  return all;
}

TEST(CandidateCoder, AnyIntegersComeBack) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  RoundTrip({{}, {{0}}, {{127, 128, 16383, 16384}}, {{kLeast, -1, kMost}}, {}});
}

TEST(CandidateCoder, LogsOfRandomCandidatesComeBack) {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<space::Candidate> log = {Random(rng.Below(1500), 64, rng)};
    for (int i = 0; i < 300; ++i) {
      space::Candidate next = log.back();
      switch (rng.Below(8)) {
        case 0:
          next = Random(rng.Below(1500), int64_t{1} << rng.Below(31), rng);
          break;
        case 1:
          next.choices.push_back(-static_cast<int32_t>(rng.Below(1000)));
          break;
        default:
          for (uint64_t edits = rng.Below(20); edits > 0; --edits) {
            if (next.choices.empty()) break;
            next.choices[rng.Below(next.choices.size())] =
                static_cast<int32_t>(rng.Below(300));
          }
      }
      log.push_back(std::move(next));
    }
    RoundTrip(log);
  }
}

TEST(CandidateCoder, ShortCandidatesTakeAByteAChoice) {
  EXPECT_EQ(RoundTrip({{{1, 2, 3}}})[0].size(), 4u);
}

TEST(CandidateCoder, EditsAreShortAndEndRegularly) {
  Rng rng(1);
  std::vector<space::Candidate> log = {Random(80'000, 8, rng)};
  for (int i = 0; i < 600; ++i) {
    log.push_back(log.back());
    log.back().choices[rng.Below(80'000)] = 9;
  }
  const std::vector<std::string> all = RoundTrip(log);
  int in_row = 0;
  int in_full = 0;
  for (const std::string& bytes : all) {
    const bool is_edited = CandidateCoder::IsEdited(bytes);
    in_row = is_edited ? in_row + 1 : 0;
    in_full += !is_edited;
    EXPECT_LE(in_row, CandidateCoder::kMaxEdited);
    // About 3.5 bits a choice; a place and a value.
    EXPECT_LE(bytes.size(), is_edited ? 8u : 36'000u);
  }
  EXPECT_EQ(in_full, 3);
}

TEST(CandidateCoder, NothingButTheCandidateBeforeIsNeeded) {
  Rng rng(1);
  CandidateCoder encoder;
  const space::Candidate candidate = Random(1000, 8, rng);
  encoder.Encode(candidate);
  const std::string edits = encoder.Encode(candidate);
  EXPECT_TRUE(CandidateCoder::IsEdited(edits));
  CandidateCoder decoder;
  EXPECT_THAT(decoder.Decode(edits), StatusIs(absl::StatusCode::kDataLoss, _));
  encoder.Skip();
  EXPECT_FALSE(CandidateCoder::IsEdited(encoder.Encode(candidate)));
}

TEST(CandidateCoder, DamagedBytesAreErrorsOrOtherCandidates) {
  Rng rng(7);
  const space::Candidate first = Random(1000, 8, rng);
  space::Candidate second = first;
  for (int i = 0; i < 100; ++i) second.choices[rng.Below(1000)] = 200;
  CandidateCoder encoder;
  const std::string full = encoder.Encode(first);
  const std::string edits = encoder.Encode(second);
  ASSERT_TRUE(CandidateCoder::IsEdited(edits));
  CandidateCoder empty;
  EXPECT_THAT(empty.Decode(""), StatusIs(absl::StatusCode::kDataLoss, _));
  for (int round = 0; round < 5000; ++round) {
    std::string bad = round % 2 == 0 ? full : edits;
    bad.resize(bad.size() - rng.Below(3));
    bad[rng.Below(bad.size())] = static_cast<char>(rng.Below(256));
    CandidateCoder decoder;
    HONE_ASSERT_OK(decoder.Decode(full).status());
    decoder.Decode(bad).IgnoreError();
  }
}

}  // namespace
}  // namespace hone::storage

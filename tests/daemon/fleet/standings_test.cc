#include "daemon/fleet/standings.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hone::daemon {
namespace {

class StandingsTest : public ::testing::Test {
 protected:
  bool Trusted(absl::string_view machine) const {
    return standings_.IsTrusted(machine, now_);
  }
  void Mark(absl::string_view machine, Fault fault, int times = 1) {
    for (int i = 0; i < times; ++i) {
      standings_.Mark(machine, fault, "why", now_);
    }
  }
  // The rest of the quarantine.
  absl::Duration Left(absl::string_view machine) const {
    const auto* quarantine = standings_.FindQuarantine(machine, now_);
    return quarantine == nullptr ? absl::ZeroDuration()
                                 : quarantine->until - now_;
  }

  absl::Duration now_ = absl::Seconds(1000);
  Metrics metrics_;
  Standings standings_{metrics_,
                       {.first_quarantine = absl::Minutes(5),
                        .longest_quarantine = absl::Minutes(60),
                        .canary_works = 3,
                        .canary_interval = absl::Minutes(10),
                        .has_canaries = true,
                        .max_machines = 10}};
};

TEST_F(StandingsTest, FaultsAddUpAndFade) {
  Mark("m", Fault::kLostLease, 5);
  EXPECT_TRUE(Trusted("m"));
  now_ += absl::Minutes(10);
  Mark("m", Fault::kFailure, 2);
  EXPECT_TRUE(Trusted("m"));
  Mark("m", Fault::kFailure);
  EXPECT_FALSE(Trusted("m"));
  EXPECT_EQ(metrics_.Quarantines("failure").Value(), 1);
  EXPECT_TRUE(Trusted("other"));
}

TEST_F(StandingsTest, ImpossibleNumbersWeighMore) {
  Mark("m", Fault::kMalformedReport);
  EXPECT_TRUE(Trusted("m"));
  // Not at one moment.
  now_ += absl::Minutes(1);
  Mark("m", Fault::kMalformedReport);
  EXPECT_FALSE(Trusted("m"));
  EXPECT_EQ(standings_.FindQuarantine("m", now_)->detail, "why");
}

TEST_F(StandingsTest, AfterAQuarantineComesACanary) {
  Mark("m", Fault::kLostLease, 6);
  EXPECT_EQ(Left("m"), absl::Minutes(5));
  EXPECT_FALSE(standings_.IsCanaryDue("m", now_));
  now_ += absl::Minutes(5);
  EXPECT_FALSE(Trusted("m"));
  EXPECT_TRUE(standings_.OnProbation("m", now_));
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
  standings_.BeginCanary("m", now_);
  EXPECT_FALSE(standings_.IsCanaryDue("m", now_));
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  EXPECT_TRUE(Trusted("m"));
}

TEST_F(StandingsTest, EachQuarantineIsLonger) {
  for (const int minutes : {5, 20, 60, 60}) {
    standings_.EndCanary("m", CanaryVerdict::kWrong, "lies", now_);
    EXPECT_EQ(Left("m"), absl::Minutes(minutes));
    now_ += absl::Minutes(minutes);
    standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
    EXPECT_TRUE(Trusted("m"));
  }
  // Forgiven after a week.
  now_ += absl::Hours(24 * 8);
  standings_.EndCanary("m", CanaryVerdict::kWrong, "lies", now_);
  EXPECT_EQ(Left("m"), absl::Minutes(5));
}

TEST_F(StandingsTest, AMachineIsReleased) {
  EXPECT_FALSE(standings_.Release("m", now_));
  standings_.EndCanary("m", CanaryVerdict::kWrong, "lies", now_);
  EXPECT_TRUE(standings_.Release("m", now_));
  EXPECT_EQ(Left("m"), absl::ZeroDuration());
  EXPECT_FALSE(standings_.Release("m", now_));
  // A canary says whether it is good again.
  EXPECT_FALSE(Trusted("m"));
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  EXPECT_TRUE(Trusted("m"));
}

TEST_F(StandingsTest, TwoNoisyCanariesAreChance) {
  standings_.EndCanary("m", CanaryVerdict::kNoisy, "1.2", now_);
  standings_.EndCanary("m", CanaryVerdict::kNoisy, "1.2", now_);
  EXPECT_TRUE(Trusted("m"));
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  standings_.EndCanary("m", CanaryVerdict::kNoisy, "1.2", now_);
  standings_.EndCanary("m", CanaryVerdict::kNoisy, "1.2", now_);
  EXPECT_TRUE(Trusted("m"));
  standings_.EndCanary("m", CanaryVerdict::kNoisy, "1.3", now_);
  EXPECT_FALSE(Trusted("m"));
  EXPECT_EQ(metrics_.Quarantines("noise").Value(), 1);
}

// A full disk is no lie: it may be over by the next canary.
TEST_F(StandingsTest, AMachineThatFailsThreeCanariesIsQuarantined) {
  standings_.EndCanary("m", CanaryVerdict::kFailed, "disk full", now_);
  EXPECT_TRUE(Trusted("m"));
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
  standings_.EndCanary("m", CanaryVerdict::kNoisy, "1.2", now_);
  EXPECT_TRUE(Trusted("m"));
  standings_.EndCanary("m", CanaryVerdict::kFailed, "disk full", now_);
  EXPECT_FALSE(Trusted("m"));
  EXPECT_EQ(metrics_.Quarantines("failure").Value(), 1);
  EXPECT_EQ(metrics_.Quarantines("lie").Value(), 0);
}

TEST_F(StandingsTest, CanariesAreDueByWorkAndByTime) {
  EXPECT_FALSE(standings_.IsCanaryDue("m", now_));
  standings_.CountWork("m", now_);
  standings_.CountWork("m", now_);
  EXPECT_FALSE(standings_.IsCanaryDue("m", now_));
  standings_.CountWork("m", now_);
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  now_ += absl::Minutes(11);
  // Whoever does nothing needs none.
  EXPECT_FALSE(standings_.IsCanaryDue("m", now_));
  standings_.CountWork("m", now_);
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
}

// A liar disagrees with everybody, the others only with the liar.
TEST_F(StandingsTest, WhoDisagreesWithTwoIsWrong) {
  standings_.MarkDisagreement("liar", "a", "0.1 and 1.0", now_);
  EXPECT_TRUE(Trusted("liar"));
  EXPECT_TRUE(standings_.IsCanaryDue("liar", now_));
  EXPECT_TRUE(standings_.IsCanaryDue("a", now_));
  standings_.MarkDisagreement("b", "liar", "1.0 and 0.1", now_);
  EXPECT_FALSE(Trusted("liar"));
  // The marks of the others are gone.
  standings_.MarkDisagreement("a", "c", "1.0 and 0.9", now_);
  EXPECT_TRUE(Trusted("a"));
  EXPECT_TRUE(Trusted("b"));
}

TEST_F(StandingsTest, WhoDisagreedWithAGuiltyMachineIsClearedInEitherOrder) {
  standings_.MarkDisagreement("a", "liar", "", now_);
  standings_.MarkDisagreement("liar", "b", "", now_);
  EXPECT_FALSE(Trusted("liar"));
  // Their first that counts.
  standings_.MarkDisagreement("a", "b", "", now_);
  EXPECT_TRUE(Trusted("a"));
  EXPECT_TRUE(Trusted("b"));
}

TEST_F(StandingsTest, ACanaryFromBeforeAQuarantineDoesNotEndItsProbation) {
  standings_.BeginCanary("m", now_);
  Mark("m", Fault::kLostLease, 6);
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  now_ += absl::Minutes(5);
  EXPECT_TRUE(standings_.OnProbation("m", now_));
  standings_.BeginCanary("m", now_);
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  EXPECT_TRUE(Trusted("m"));
}

TEST_F(StandingsTest, WhatHappensDuringACanaryAsksForAnother) {
  standings_.WantCanary("m", now_);
  standings_.BeginCanary("m", now_);
  standings_.WantCanary("m", now_);
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
  standings_.BeginCanary("m", now_);
  standings_.EndCanary("m", CanaryVerdict::kPassed, "", now_);
  EXPECT_FALSE(standings_.IsCanaryDue("m", now_));
}

TEST_F(StandingsTest, ALostCanaryIsRepeated) {
  standings_.WantCanary("m", now_);
  standings_.BeginCanary("m", now_);
  standings_.AbandonCanary("m");
  EXPECT_TRUE(standings_.IsCanaryDue("m", now_));
}

TEST_F(StandingsTest, AMarkIsTakenBack) {
  Mark("m", Fault::kLostLease, 5);
  standings_.Unmark("m", Fault::kLostLease);
  Mark("m", Fault::kLostLease);
  EXPECT_TRUE(Trusted("m"));
}

TEST_F(StandingsTest, AnotherNameDoesNotHelp) {
  standings_.Introduce("here/first", "here", now_);
  EXPECT_TRUE(Trusted("here/first"));
  standings_.EndCanary("here/bad", CanaryVerdict::kWrong, "lies", now_);
  standings_.Introduce("here/other", "here", now_);
  EXPECT_FALSE(Trusted("here/other"));
  EXPECT_TRUE(standings_.IsCanaryDue("here/other", now_));
  standings_.Introduce("there/other", "there", now_);
  EXPECT_TRUE(Trusted("there/other"));
  standings_.EndCanary("here/other", CanaryVerdict::kPassed, "", now_);
  EXPECT_TRUE(Trusted("here/other"));
}

TEST_F(StandingsTest, ManyNamesDoNotWashAwayAQuarantine) {
  standings_.EndCanary("bad", CanaryVerdict::kWrong, "lies", now_);
  for (int i = 0; i < 1000; ++i) {
    now_ += absl::Milliseconds(1);
    standings_.CountWork(absl::StrCat("m", i), now_);
  }
  EXPECT_EQ(standings_.size(), 10u);
  EXPECT_FALSE(Trusted("bad"));
}

}  // namespace
}  // namespace hone::daemon

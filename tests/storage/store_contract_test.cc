// The contract of every Store, run on each implementation.
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "base/rng.h"
#include "tests/storage/samples.h"
#include "tests/storage/stores.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreContract : public StoreTest {};

void ExpectSame(const Tuning& a, const Tuning& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.module_name, b.module_name);
  EXPECT_EQ(a.module_digest, b.module_digest);
  EXPECT_EQ(a.optimizer, b.optimizer);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.budget.trials, b.budget.trials);
  EXPECT_EQ(a.budget.time, b.budget.time);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.trials, b.trials);
  EXPECT_EQ(a.default_cost, b.default_cost);
  EXPECT_EQ(a.best_cost, b.best_cost);
  EXPECT_EQ(a.created, b.created);
}

void ExpectSame(const Record& a, const Record& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.module_name, b.module_name);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.default_cost, b.default_cost);
  EXPECT_EQ(a.best_cost, b.best_cost);
  EXPECT_EQ(a.decision, b.decision);
  EXPECT_EQ(a.tuned_module_digest, b.tuned_module_digest);
  EXPECT_EQ(a.optimizer, b.optimizer);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.trials, b.trials);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.verification, b.verification);
  EXPECT_EQ(a.tuning_id, b.tuning_id);
  EXPECT_EQ(a.producer, b.producer);
  EXPECT_EQ(a.created, b.created);
}

std::vector<std::string> Ids(const Page<Tuning>& page) {
  std::vector<std::string> ids;
  for (const Tuning& tuning : page.items) ids.push_back(tuning.id);
  return ids;
}

std::vector<std::string> Modules(const Page<Record>& page) {
  std::vector<std::string> modules;
  for (const Record& record : page.items) {
    modules.push_back(record.key.module_fingerprint);
  }
  return modules;
}

// ---- Blobs

TEST_P(StoreContract, BlobsRoundTripAtEverySize) {
  Rng rng(1);
  // Random bytes do not compress; 300,000 of them exceed what a row takes.
  for (size_t size : {0u, 1u, 1000u, 300'000u}) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(rng.Next());
    HONE_ASSERT_OK_AND_ASSIGN(const std::string digest, store_->PutBlob(bytes));
    EXPECT_EQ(digest, Sha256Hex(bytes));
    HONE_ASSERT_OK_AND_ASSIGN(const std::string back, store_->GetBlob(digest));
    EXPECT_EQ(back, bytes);
    HONE_ASSERT_OK_AND_ASSIGN(const bool has, store_->HasBlob(digest));
    EXPECT_TRUE(has);
  }
}

TEST_P(StoreContract, TheSameBlobIsStoredOnce) {
  HONE_ASSERT_OK_AND_ASSIGN(const std::string first, store_->PutBlob("x"));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string second, store_->PutBlob("x"));
  EXPECT_EQ(first, second);
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.blobs, 1);
}

TEST_P(StoreContract, UnknownBlobIsNotFound) {
  EXPECT_THAT(store_->GetBlob("nope"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nope")));
  HONE_ASSERT_OK_AND_ASSIGN(const bool has, store_->HasBlob("nope"));
  EXPECT_FALSE(has);
}

// ---- Tunings

TEST_P(StoreContract, TuningRoundTrips) {
  Tuning tuning = SampleTuning("t");
  tuning.error = "early";
  tuning.default_cost = 3;
  tuning.best_cost = std::numeric_limits<double>::infinity();
  HONE_ASSERT_OK(store_->CreateTuning(tuning));
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning back, store_->GetTuning("t"));
  ExpectSame(back, tuning);
  EXPECT_EQ(back.updated, tuning.updated);
}

TEST_P(StoreContract, BudgetWithoutTimeLimitRoundTrips) {
  Tuning tuning = SampleTuning("t");
  tuning.budget.time = absl::InfiniteDuration();
  HONE_ASSERT_OK(store_->CreateTuning(tuning));
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning back, store_->GetTuning("t"));
  EXPECT_EQ(back.budget.time, absl::InfiniteDuration());
}

TEST_P(StoreContract, TakenTuningIdIsRefused) {
  Create("t");
  EXPECT_THAT(store_->CreateTuning(SampleTuning("t", "other")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'t'")));
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning back, store_->GetTuning("t"));
  EXPECT_EQ(back.key.module_fingerprint, "m0");
}

TEST_P(StoreContract, UnknownTuningIsNotFound) {
  const auto not_found =
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("nope"));
  EXPECT_THAT(store_->GetTuning("nope"), not_found);
  EXPECT_THAT(store_->SetTuningState("nope", TuningState::kRunning, ""),
              not_found);
  EXPECT_THAT(store_->AppendTrials("nope", SampleTrials(0, 1)), not_found);
  EXPECT_THAT(store_->ListTrials("nope"), not_found);
}

TEST_P(StoreContract, StateAndErrorAreSet) {
  Create("t");
  HONE_ASSERT_OK(store_->SetTuningState("t", TuningState::kRunning, ""));
  HONE_ASSERT_OK(store_->SetTuningState("t", TuningState::kFailed, "why"));
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning back, store_->GetTuning("t"));
  EXPECT_EQ(back.state, TuningState::kFailed);
  EXPECT_EQ(back.error, "why");
  EXPECT_GT(back.updated, back.created);
}

TEST_P(StoreContract, TerminalStatesAreFinal) {
  for (TuningState state : {TuningState::kSucceeded, TuningState::kFailed,
                            TuningState::kCancelled}) {
    const std::string id(TuningStateName(state));
    Create(id);
    HONE_ASSERT_OK(store_->SetTuningState(id, state, ""));
    EXPECT_THAT(store_->SetTuningState(id, TuningState::kRunning, ""),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(id)));
    HONE_ASSERT_OK_AND_ASSIGN(const Tuning back, store_->GetTuning(id));
    EXPECT_EQ(back.state, state);
  }
}

TEST_P(StoreContract, TuningsAreListedNewestFirstByState) {
  for (int i = 0; i < 5; ++i) Create(absl::StrCat("t", i));
  HONE_ASSERT_OK(store_->SetTuningState("t1", TuningState::kRunning, ""));
  HONE_ASSERT_OK(store_->SetTuningState("t3", TuningState::kFailed, ""));

  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> all,
                            store_->ListTunings({}, 0, ""));
  EXPECT_THAT(Ids(all), ElementsAre("t4", "t3", "t2", "t1", "t0"));
  EXPECT_EQ(all.next_page_token, "");
  HONE_ASSERT_OK_AND_ASSIGN(
      const Page<Tuning> some,
      store_->ListTunings({TuningState::kRunning, TuningState::kFailed}, 0,
                          ""));
  EXPECT_THAT(Ids(some), ElementsAre("t3", "t1"));
}

TEST_P(StoreContract, TuningsArePaged) {
  for (int i = 0; i < 5; ++i) Create(absl::StrCat("t", i));
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> first,
                            store_->ListTunings({}, 2, ""));
  EXPECT_THAT(Ids(first), ElementsAre("t4", "t3"));
  // New ones do not shift the pages.
  Create("t5");
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> second,
                            store_->ListTunings({}, 2, first.next_page_token));
  EXPECT_THAT(Ids(second), ElementsAre("t2", "t1"));
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> third,
                            store_->ListTunings({}, 2, second.next_page_token));
  EXPECT_THAT(Ids(third), ElementsAre("t0"));
  EXPECT_EQ(third.next_page_token, "");
}

TEST_P(StoreContract, AFullLastPageHasNoToken) {
  Create("t0");
  Create("t1");
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> page,
                            store_->ListTunings({}, 2, ""));
  EXPECT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.next_page_token, "");
}

TEST_P(StoreContract, BadPageRequestsAreRefused) {
  for (int i = 0; i < 3; ++i) Create(absl::StrCat("t", i));
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument, _);
  EXPECT_THAT(store_->ListTunings({}, -1, ""), invalid);
  EXPECT_THAT(store_->ListTunings({}, 0, "bad"), invalid);
  EXPECT_THAT(store_->ListRecords({}, -1, ""), invalid);
  EXPECT_THAT(store_->ListRecords({}, 0, "bad"), invalid);
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> page,
                            store_->ListTunings({}, 1, ""));
  EXPECT_THAT(
      store_->ListTunings({TuningState::kPending}, 1, page.next_page_token),
      invalid);
  EXPECT_THAT(store_->ListRecords({}, 1, page.next_page_token), invalid);
}

TEST_P(StoreContract, AnUnfinishedTwinIsJoined) {
  Tuning twin = SampleTuning("t");
  HONE_ASSERT_OK_AND_ASSIGN(Tuning created, store_->CreateTuning(twin));
  EXPECT_EQ(created.id, "t");
  twin.id = "later";
  twin.budget.trials = 1;
  for (TuningState state : {TuningState::kPending, TuningState::kRunning}) {
    HONE_ASSERT_OK(store_->SetTuningState("t", state, ""));
    HONE_ASSERT_OK_AND_ASSIGN(const Tuning joined, store_->CreateTuning(twin));
    EXPECT_EQ(joined.id, "t");
    EXPECT_EQ(joined.state, state);
    EXPECT_EQ(joined.budget.trials, 500);
  }
  // Another key, optimizer or seed is another tuning.
  Tuning other = twin;
  other.id = "key";
  other.key.target = "cpu";
  EXPECT_EQ(store_->CreateTuning(other)->id, "key");
  other = twin;
  other.id = "optimizer";
  other.optimizer = "random";
  EXPECT_EQ(store_->CreateTuning(other)->id, "optimizer");
  other = twin;
  other.id = "seed";
  ++other.seed;
  EXPECT_EQ(store_->CreateTuning(other)->id, "seed");

  HONE_ASSERT_OK(store_->SetTuningState("t", TuningState::kCancelled, ""));
  HONE_ASSERT_OK_AND_ASSIGN(created, store_->CreateTuning(twin));
  EXPECT_EQ(created.id, "later");
}

TEST_P(StoreContract, OfEqualTuningsAtOnceOneIsCreated) {
  constexpr int kThreads = 8;
  std::vector<std::string> ids(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &id = ids[static_cast<size_t>(i)]] {
      Tuning tuning = SampleTuning("t");
      tuning.id = absl::StrCat("t", i);
      id = store_->CreateTuning(tuning)->id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(ids, ::testing::Each(ids[0]));
  EXPECT_EQ(store_->Stats()->tunings, 1);
}

// ---- Trials

TEST_P(StoreContract, TrialsRoundTrip) {
  Create("t");
  space::Trial odd = SampleTrial(1);
  odd.candidate.choices = {};
  odd.measurement = {.outcome = space::Outcome::kCompileError,
                     .cost = std::numeric_limits<double>::quiet_NaN(),
                     .samples = {1.0 / 3, 1e300, -0.0, 5e-324},
                     .message = "it is \"bad\", [really]"};
  HONE_ASSERT_OK(store_->AppendTrials("t", {SampleTrial(0), odd}));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> back,
                            store_->ListTrials("t"));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].candidate, SampleTrial(0).candidate);
  EXPECT_EQ(back[0].measurement.cost, 100.5);
  EXPECT_EQ(back[0].measurement.outcome, space::Outcome::kOk);
  EXPECT_EQ(back[1].id, 1);
  EXPECT_THAT(back[1].candidate.choices, IsEmpty());
  EXPECT_EQ(back[1].measurement.outcome, space::Outcome::kCompileError);
  EXPECT_TRUE(std::isnan(back[1].measurement.cost));
  EXPECT_EQ(back[1].measurement.samples, odd.measurement.samples);
  EXPECT_EQ(back[1].measurement.message, odd.measurement.message);
}

TEST_P(StoreContract, TrialsUpdateTheTuning) {
  Create("t");
  HONE_ASSERT_OK(store_->AppendTrials("t", SampleTrials(0, 3)));
  space::Trial bad = SampleTrial(3);
  bad.measurement.outcome = space::Outcome::kInvalid;
  HONE_ASSERT_OK(store_->AppendTrials("t", {bad}));
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning, store_->GetTuning("t"));
  EXPECT_EQ(tuning.trials, 4);
  EXPECT_EQ(tuning.default_cost, 100.5);
  EXPECT_EQ(tuning.best_cost, 98.5);
  EXPECT_GT(tuning.updated, tuning.created);
}

TEST_P(StoreContract, TrialsStoredAlreadyAreSkipped) {
  Create("t");
  HONE_ASSERT_OK(store_->AppendTrials("t", SampleTrials(0, 3)));
  HONE_ASSERT_OK(store_->AppendTrials("t", SampleTrials(1, 5)));
  HONE_ASSERT_OK(store_->AppendTrials("t", SampleTrials(0, 2)));
  HONE_ASSERT_OK(store_->AppendTrials("t", {}));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> back,
                            store_->ListTrials("t"));
  ASSERT_EQ(back.size(), 5u);
  for (int64_t id = 0; id < 5; ++id) {
    EXPECT_EQ(back[static_cast<size_t>(id)].id, id);
  }
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning, store_->GetTuning("t"));
  EXPECT_EQ(tuning.trials, 5);
}

TEST_P(StoreContract, GapsInTrialIdsAreRefusedAsAWhole) {
  Create("t");
  HONE_ASSERT_OK(store_->AppendTrials("t", SampleTrials(0, 2)));
  const auto gap =
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("expected"));
  EXPECT_THAT(store_->AppendTrials("t", SampleTrials(3, 4)), gap);
  EXPECT_THAT(store_->AppendTrials("t", {SampleTrial(2), SampleTrial(4)}), gap);
  EXPECT_THAT(store_->AppendTrials("t", {SampleTrial(1), SampleTrial(1)}), gap);
  EXPECT_THAT(store_->AppendTrials("t", {SampleTrial(-1)}), gap);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> back,
                            store_->ListTrials("t"));
  EXPECT_EQ(back.size(), 2u);
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning, store_->GetTuning("t"));
  EXPECT_EQ(tuning.trials, 2);
}

// ---- Records

TEST_P(StoreContract, PublishedRecordIsFoundAndItsTuningSucceeded) {
  Create("t");
  Record record = SampleRecord();
  record.tuning_id = "t";
  HONE_ASSERT_OK(store_->Publish(record));
  HONE_ASSERT_OK_AND_ASSIGN(const Record back, store_->Lookup(SampleKey()));
  ExpectSame(back, record);
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning, store_->GetTuning("t"));
  EXPECT_EQ(tuning.state, TuningState::kSucceeded);
}

TEST_P(StoreContract, ANewRecordReplacesTheOld) {
  HONE_ASSERT_OK(store_->Publish(SampleRecord()));
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  Record record = SampleRecord();
  record.best_cost = 50;
  HONE_ASSERT_OK(store_->Publish(record));
  HONE_ASSERT_OK_AND_ASSIGN(const Record back, store_->Lookup(SampleKey()));
  EXPECT_EQ(back.best_cost, 50);
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Record> page,
                            store_->ListRecords({}, 0, ""));
  EXPECT_THAT(Modules(page), ElementsAre("m0", "m1"));
}

TEST_P(StoreContract, PublishingIsAtomic) {
  Create("t");
  HONE_ASSERT_OK(store_->SetTuningState("t", TuningState::kCancelled, ""));
  Record record = SampleRecord();
  record.tuning_id = "t";
  EXPECT_THAT(store_->Publish(record),
              StatusIs(absl::StatusCode::kFailedPrecondition, _));
  record.tuning_id = "nope";
  EXPECT_THAT(store_->Publish(record),
              StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(store_->Lookup(SampleKey()),
              StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_P(StoreContract, LookupMissesOnEveryComponent) {
  HONE_ASSERT_OK(store_->Publish(SampleRecord()));
  for (std::string CacheKey::*field :
       {&CacheKey::module_fingerprint, &CacheKey::target, &CacheKey::task,
        &CacheKey::task_options, &CacheKey::space_version}) {
    CacheKey key = SampleKey();
    (key.*field).push_back('x');
    EXPECT_THAT(store_->Lookup(key), StatusIs(absl::StatusCode::kNotFound, _));
  }
}

TEST_P(StoreContract, RecordsAreFilteredAndPaged) {
  for (int i = 0; i < 4; ++i) {
    Record record = SampleRecord(absl::StrCat("m", i));
    if (i % 2 == 1) record.key.target = "cpu";
    if (i == 3) record.producer = "someone else";
    HONE_ASSERT_OK(store_->Publish(record));
  }
  const auto list = [&](const RecordFilter& filter) {
    return Modules(store_->ListRecords(filter, 0, "").value());
  };
  EXPECT_THAT(list({}), ElementsAre("m3", "m2", "m1", "m0"));
  EXPECT_THAT(list({.target = "cpu"}), ElementsAre("m3", "m1"));
  EXPECT_THAT(list({.module_fingerprint = "m2"}), ElementsAre("m2"));
  EXPECT_THAT(list({.producer = "someone else"}), ElementsAre("m3"));
  EXPECT_THAT(list({.target = "cpu", .task = "nope"}), IsEmpty());

  HONE_ASSERT_OK_AND_ASSIGN(const Page<Record> first,
                            store_->ListRecords({.target = "cpu"}, 1, ""));
  EXPECT_THAT(Modules(first), ElementsAre("m3"));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Page<Record> second,
      store_->ListRecords({.target = "cpu"}, 1, first.next_page_token));
  EXPECT_THAT(Modules(second), ElementsAre("m1"));
  EXPECT_EQ(second.next_page_token, "");
  EXPECT_THAT(store_->ListRecords({}, 1, first.next_page_token),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST_P(StoreContract, RecordsAreFoundByMachineAndTime) {
  const absl::Time start = absl::FromUnixSeconds(1'000);
  for (int i = 0; i < 4; ++i) {
    Record record = SampleRecord();
    record.key = SampleKey(absl::StrCat("m", i));
    record.created = start + absl::Seconds(i);
    if (i > 0) record.verification.measured_by = {"ipv4:192.0.2.1/good"};
    if (i > 1) record.verification.measured_by.push_back("ipv4:192.0.2.2/bad");
    HONE_ASSERT_OK(store_->Publish(record).status());
  }
  const auto list = [&](const RecordFilter& filter) {
    const auto page = store_->ListRecords(filter, 0, "");
    HONE_EXPECT_OK(page.status());
    std::vector<std::string> modules;
    for (const Record& record : page->items) {
      modules.push_back(record.key.module_fingerprint);
    }
    return modules;
  };
  HONE_ASSERT_OK_AND_ASSIGN(const Record both, store_->Lookup(SampleKey("m3")));
  EXPECT_THAT(both.verification.measured_by,
              ElementsAre("ipv4:192.0.2.1/good", "ipv4:192.0.2.2/bad"));
  EXPECT_THAT(list({.measured_by = "ipv4:192.0.2.1/good"}),
              ElementsAre("m3", "m2", "m1"));
  EXPECT_THAT(list({.measured_by = "ipv4:192.0.2.2/bad"}),
              ElementsAre("m3", "m2"));
  EXPECT_THAT(list({.measured_by = "good"}), ::testing::IsEmpty());
  EXPECT_THAT(list({.created_after = start + absl::Seconds(1),
                    .created_before = start + absl::Seconds(3)}),
              ElementsAre("m2", "m1"));
  const RecordFilter bad_late = {.measured_by = "ipv4:192.0.2.2/bad",
                                 .created_after = start + absl::Seconds(3)};
  EXPECT_THAT(list(bad_late), ElementsAre("m3"));

  // Pages.
  HONE_ASSERT_OK_AND_ASSIGN(
      const Page<Record> first,
      store_->ListRecords({.measured_by = "ipv4:192.0.2.1/good"}, 2, ""));
  ASSERT_EQ(first.items.size(), 2u);
  HONE_ASSERT_OK_AND_ASSIGN(
      const Page<Record> second,
      store_->ListRecords({.measured_by = "ipv4:192.0.2.1/good"}, 2,
                          first.next_page_token));
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0].key.module_fingerprint, "m1");

  // A record that replaces another forgets who measured that.
  Record again = both;
  again.verification.measured_by = {"ipv4:192.0.2.1/good"};
  HONE_ASSERT_OK(store_->Publish(again).status());
  EXPECT_THAT(list({.measured_by = "ipv4:192.0.2.2/bad"}), ElementsAre("m2"));

  HONE_ASSERT_OK_AND_ASSIGN(
      int64_t removed,
      store_->Invalidate({.measured_by = "ipv4:192.0.2.2/bad"}));
  EXPECT_EQ(removed, 1);
  HONE_ASSERT_OK_AND_ASSIGN(
      removed,
      store_->Invalidate({.created_before = start + absl::Seconds(1)}));
  EXPECT_EQ(removed, 1);
  EXPECT_THAT(list({}), ElementsAre("m3", "m1"));
}

TEST_P(StoreContract, InvalidateRemovesWhatMatches) {
  for (int i = 0; i < 4; ++i) {
    Record record = SampleRecord(absl::StrCat("m", i));
    if (i % 2 == 1) record.producer = "sick machine";
    HONE_ASSERT_OK(store_->Publish(record));
  }
  HONE_ASSERT_OK_AND_ASSIGN(int64_t removed,
                            store_->Invalidate({.producer = "sick machine"}));
  EXPECT_EQ(removed, 2);
  EXPECT_THAT(store_->Lookup(SampleKey("m1")),
              StatusIs(absl::StatusCode::kNotFound, _));
  HONE_EXPECT_OK(store_->Lookup(SampleKey("m2")).status());
  HONE_ASSERT_OK_AND_ASSIGN(removed, store_->Invalidate({.task = "nope"}));
  EXPECT_EQ(removed, 0);
  HONE_ASSERT_OK_AND_ASSIGN(removed, store_->Invalidate({}));
  EXPECT_EQ(removed, 2);
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.records, 0);
  // It can be published again.
  HONE_ASSERT_OK(store_->Publish(SampleRecord("m1")));
  HONE_EXPECT_OK(store_->Lookup(SampleKey("m1")).status());
}

// ---- The whole

TEST_P(StoreContract, ManyThreadsAtOnce) {
  constexpr int kThreads = 8;
  constexpr int64_t kTrials = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      const std::string name = absl::StrCat("t", i);
      Create(name, name);
      for (int64_t id = 0; id < kTrials; ++id) {
        HONE_EXPECT_OK(store_->AppendTrials(name, {SampleTrial(id)}));
        HONE_EXPECT_OK(store_->GetTuning(name).status());
      }
      Record record = SampleRecord(name);
      record.tuning_id = name;
      HONE_EXPECT_OK(store_->Publish(record));
      HONE_EXPECT_OK(store_->Lookup(record.key).status());
    });
  }
  for (std::thread& thread : threads) thread.join();
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store_->Stats());
  EXPECT_EQ(stats.trials, kThreads * kTrials);
  EXPECT_EQ(stats.records, kThreads);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, AllStores(), NameOf);

}  // namespace
}  // namespace hone::storage

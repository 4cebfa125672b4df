#include "storage/sqlite/writer.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::storage::sqlite {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() {
    auto database = Database::Open(path_, Database::Mode::kReadWrite,
                                   absl::Seconds(1), &events_);
    EXPECT_THAT(database, hone::testing::IsOk());
    HONE_EXPECT_OK((*database)->Execute("CREATE TABLE a (x INTEGER UNIQUE)"));
    writer_ = std::make_unique<Writer>(*std::move(database));
  }

  static absl::Status Insert(Database& database, int64_t x) {
    HONE_ASSIGN_OR_RETURN(Statement insert,
                          database.Prepare("INSERT INTO a VALUES (?1)"));
    return insert.Bind(x).Run();
  }
  int64_t Count() {
    auto database = Database::Open(path_, Database::Mode::kReadOnly,
                                   absl::Seconds(1), &events_);
    EXPECT_THAT(database, hone::testing::IsOk());
    return (*database)->QueryInt("SELECT COUNT(*) FROM a").value();
  }

  // Runs `bodies` as one group: the writer is kept busy until all of them wait.
  std::vector<absl::Status> RunTogether(
      const std::vector<Writer::Operation>& bodies) {
    absl::Notification busy;
    absl::Notification go_on;
    std::thread blocker([&] {
      HONE_EXPECT_OK(writer_->Run([&](Database&) {
        busy.Notify();
        go_on.WaitForNotification();
        return absl::OkStatus();
      }));
    });
    busy.WaitForNotification();
    std::vector<absl::Status> statuses(bodies.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < bodies.size(); ++i) {
      threads.emplace_back([&, i] { statuses[i] = writer_->Run(bodies[i]); });
      // So that they queue in order.
      while (writer_->waiting() != i + 1) std::this_thread::yield();
    }
    go_on.Notify();
    blocker.join();
    for (std::thread& thread : threads) thread.join();
    return statuses;
  }

  hone::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/test.db";
  Events events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterTest, WaitingOperationsShareATransaction) {
  std::vector<Writer::Operation> bodies;
  std::vector<int64_t> seen(3, -1);
  for (int64_t i = 0; i < 3; ++i) {
    bodies.push_back([&, i](Database& database) -> absl::Status {
      // Sees the writes of those before it, which are not committed yet.
      HONE_ASSIGN_OR_RETURN(seen[static_cast<size_t>(i)],
                            database.QueryInt("SELECT COUNT(*) FROM a"));
      EXPECT_EQ(Count(), 0);
      return Insert(database, i);
    });
  }
  for (const absl::Status& status : RunTogether(bodies)) HONE_EXPECT_OK(status);
  EXPECT_THAT(seen, ::testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(Count(), 3);
}

TEST_F(WriterTest, AFailedOperationIsUndoneAndTakesNoOtherWithIt) {
  const std::vector<absl::Status> statuses =
      RunTogether({[](Database& database) { return Insert(database, 1); },
                   [](Database& database) -> absl::Status {
                     HONE_RETURN_IF_ERROR(Insert(database, 2));
                     return absl::AbortedError("no");
                   },
                   [](Database& database) { return Insert(database, 3); }});
  HONE_EXPECT_OK(statuses[0]);
  EXPECT_THAT(statuses[1],
              StatusIs(absl::StatusCode::kAborted, HasSubstr("no")));
  HONE_EXPECT_OK(statuses[2]);
  EXPECT_EQ(Count(), 2);
}

TEST_F(WriterTest, OnlyTheOneToBlameGetsTheErrorThatUndoesTheTransaction) {
  int runs = 0;
  const std::vector<absl::Status> statuses =
      RunTogether({[](Database& database) { return Insert(database, 1); },
                   [&](Database& database) -> absl::Status {
                     ++runs;
                     // SQLite does this by itself when the disk is full.
                     HONE_RETURN_IF_ERROR(database.Execute("ROLLBACK"));
                     return absl::ResourceExhaustedError("full");
                   },
                   [](Database& database) { return Insert(database, 3); }});
  HONE_EXPECT_OK(statuses[0]);
  EXPECT_THAT(statuses[1], StatusIs(absl::StatusCode::kResourceExhausted,
                                    HasSubstr("full")));
  HONE_EXPECT_OK(statuses[2]);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(Count(), 2);
}

TEST_F(WriterTest, ClosingFinishesWhatWaits) {
  absl::Notification busy;
  absl::Notification go_on;
  std::thread blocker([&] {
    HONE_EXPECT_OK(writer_->Run([&](Database&) {
      busy.Notify();
      go_on.WaitForNotification();
      return absl::OkStatus();
    }));
  });
  busy.WaitForNotification();
  std::thread waiter([&] {
    HONE_EXPECT_OK(
        writer_->Run([](Database& database) { return Insert(database, 1); }));
  });
  while (writer_->waiting() != 1) std::this_thread::yield();
  go_on.Notify();
  blocker.join();
  waiter.join();
  writer_.reset();
  EXPECT_EQ(Count(), 1);
}

}  // namespace
}  // namespace hone::storage::sqlite

#include "storage/sqlite/writer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace hone::storage::sqlite {
namespace {

// Bounds how long the first of a group waits for the others.
constexpr size_t kMaxGroup = 64;

absl::Status RunStatement(Database& database, absl::string_view sql) {
  HONE_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  return statement.Run();
}

}  // namespace

Writer::Writer(std::unique_ptr<Database> database, Reserve* reserve)
    : database_(std::move(database)), reserve_(reserve) {
  if (reserve_ != nullptr) health_ = reserve_->Restore();
  full_ = !health_.ok();
  thread_ = std::thread([this] { Work(); });
}

Writer::~Writer() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

absl::Status Writer::Run(const Operation& operation, Importance importance) {
  Request request;
  request.operation = &operation;
  request.importance = importance;
  absl::MutexLock lock(&mu_);
  queue_.push_back(&request);
  mu_.Await(absl::Condition(&request.done));
  return request.status;
}

void Writer::NoteFullDisk(const absl::Status& status) {
  if (reserve_ != nullptr) reserve_->Release();
  absl::MutexLock lock(&mu_);
  full_ = reserve_ != nullptr;
  health_ = status;
}

absl::Status Writer::health() const {
  absl::MutexLock lock(&mu_);
  return health_;
}

size_t Writer::waiting() const {
  absl::MutexLock lock(&mu_);
  return queue_.size();
}

void Writer::Work() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || !queue_.empty();
  };
  absl::MutexLock lock(&mu_);
  while (true) {
    mu_.Await(absl::Condition(&has_work));
    if (queue_.empty()) break;  // stopping
    const size_t size = std::min(queue_.size(), kMaxGroup);
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(size);
    const std::vector<Request*> group(queue_.begin(), end);
    queue_.erase(queue_.begin(), end);
    mu_.Unlock();
    Serve(group);
    mu_.Lock();
    for (Request* request : group) request->done = true;
  }
  // Best effort: what it does not move stays in the log, which is as durable.
  RunStatement(*database_, "PRAGMA wal_checkpoint(TRUNCATE)").IgnoreError();
}

bool Writer::HasSpace() {
  absl::MutexLock lock(&mu_);
  if (full_) full_ = !reserve_->Restore().ok();
  return !full_;
}

void Writer::Serve(const std::vector<Request*>& group) {
  const bool has_space = HasSpace();
  std::vector<Request*> admitted;
  for (Request* request : group) {
    if (has_space || request->importance == Importance::kState) {
      admitted.push_back(request);
    } else {
      request->status = absl::ResourceExhaustedError(
          "the disk of the store is full: only the state of what runs is "
          "stored until there is space");
    }
  }
  RunTogether(admitted);

  absl::Status trouble;
  std::vector<Request*> worth_the_reserve;
  for (Request* request : group) {
    const bool is_full = absl::IsResourceExhausted(request->status);
    if (is_full || absl::IsUnavailable(request->status)) {
      trouble = request->status;
    }
    if (is_full && request->importance == Importance::kState) {
      worth_the_reserve.push_back(request);
    }
  }
  if (absl::IsResourceExhausted(trouble)) {
    NoteFullDisk(trouble);
    if (reserve_ != nullptr) RunTogether(worth_the_reserve);
    return;
  }
  absl::MutexLock lock(&mu_);
  if (!full_ || !trouble.ok()) health_ = trouble;
}

void Writer::RunTogether(const std::vector<Request*>& group) {
  if (group.empty()) return;
  const absl::Status status = RunGroup(group);
  if (status.ok()) return;
  for (Request* request : group) {
    // The failure may be due to another request of the group only.
    const absl::Status alone = group.size() == 1 ? status : RunGroup({request});
    if (!alone.ok()) request->status = alone;
  }
}

absl::Status Writer::RunGroup(const std::vector<Request*>& group) {
  HONE_ASSIGN_OR_RETURN(Transaction transaction,
                        Transaction::Begin(*database_));
  for (Request* request : group) {
    HONE_RETURN_IF_ERROR(RunStatement(*database_, "SAVEPOINT operation"));
    request->status = (*request->operation)(*database_);
    // Errors such as a full disk undo the whole transaction.
    if (!database_->in_transaction()) {
      return request->status.ok()
                 ? absl::UnavailableError("the transaction was rolled back")
                 : request->status;
    }
    if (!request->status.ok()) {
      HONE_RETURN_IF_ERROR(
          RunStatement(*database_, "ROLLBACK TO SAVEPOINT operation"));
    }
    HONE_RETURN_IF_ERROR(
        RunStatement(*database_, "RELEASE SAVEPOINT operation"));
  }
  return transaction.Commit();
}

}  // namespace hone::storage::sqlite

#ifndef HONE_STORAGE_SQLITE_WRITER_H_
#define HONE_STORAGE_SQLITE_WRITER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

#include "storage/sqlite/database.h"

namespace hone::storage::sqlite {

// The only thread that writes, with the only connection that writes and
// checkpoints.
//
// Operations that wait at the same time share a transaction (group commit),
// because the cost is in the fsync that synchronous=FULL requires for a commit.
// Each has its own savepoint, so a failure does not affect the others.
//
// Threads: thread-safe.
class Writer {
 public:
  // Runs inside a transaction; an error rolls it back. May run more than once
  // (after the commit of a group failed), so it depends on the database only
  // and resets its outputs.
  using Operation = std::function<absl::Status(Database&)>;

  // `database` is kReadWrite.
  explicit Writer(std::unique_ptr<Database> database);
  // Runs the waiting operations, checkpoints and closes.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs `operation`; OK means that it is on disk.
  absl::Status Run(const Operation& operation);

  // The number of operations that wait for the running one.
  size_t waiting() const;

 private:
  struct Request {
    const Operation* operation = nullptr;
    absl::Status status;
    bool done = false;
  };

  void Work();
  // Runs the requests in one transaction and sets their status. Returns the
  // status of the transaction; if it is not OK, nothing is stored.
  absl::Status RunGroup(const std::vector<Request*>& group);

  const std::unique_ptr<Database> database_;
  mutable absl::Mutex mu_;
  std::deque<Request*> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses the others
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_WRITER_H_

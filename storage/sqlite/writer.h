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

// The one thread that writes, with the one connection that writes and
// checkpoints.
//
// Operations that wait at the same moment share a transaction (group commit):
// the cost is in the fsync of a commit, which FULL needs. Each has a savepoint
// of its own, so one that fails takes no other with it.
//
// Threads: thread-safe.
class Writer {
 public:
  // Runs inside a transaction; an error undoes what it did. May run more than
  // once (when the commit of a group failed), so it depends on the database
  // only and sets its outputs anew.
  using Operation = std::function<absl::Status(Database&)>;

  // `database` is kReadWrite.
  explicit Writer(std::unique_ptr<Database> database);
  // Finishes what waits, checkpoints and closes.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs `operation`; OK means that it is on disk.
  absl::Status Run(const Operation& operation);

  // Operations that wait for the one under way.
  size_t waiting() const;

 private:
  struct Request {
    const Operation* operation = nullptr;
    absl::Status status;
    bool done = false;
  };

  void Work();
  // Runs the requests in one transaction and sets their status. The result is
  // the transaction's: when it is not OK, nothing is stored.
  absl::Status RunGroup(const std::vector<Request*>& group);

  const std::unique_ptr<Database> database_;
  mutable absl::Mutex mu_;
  std::deque<Request*> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses the others
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_WRITER_H_

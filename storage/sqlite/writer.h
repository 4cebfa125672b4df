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
#include "storage/sqlite/reserve.h"

namespace hone::storage::sqlite {

// The only thread that writes, with the only connection that writes and
// checkpoints.
//
// Operations that wait at the same time share a transaction (group commit),
// because the cost is in the fsync that synchronous=FULL requires for a commit.
// Each has its own savepoint, so a failure does not affect the others.
//
// When the disk is full, the reserve is released for operations that record the
// state of what runs, and all others are refused until it can be restored,
// which every later operation tries first.
//
// Threads: thread-safe.
class Writer {
 public:
  // Runs inside a transaction; an error rolls it back. May run more than once
  // (after the commit of a group failed), so it depends on the database only
  // and resets its outputs.
  using Operation = std::function<absl::Status(Database&)>;
  enum class Importance {
    kOrdinary,
    // Small, and worth the reserve: the state of a tuning, a result, a removal.
    kState,
  };

  // `database` is kReadWrite. `reserve`, if any, outlives the writer.
  explicit Writer(std::unique_ptr<Database> database,
                  Reserve* reserve = nullptr);
  // Runs the waiting operations, checkpoints and closes.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs `operation`; OK means that it is on disk.
  // Errors: also ResourceExhausted for an ordinary one while the disk is full.
  absl::Status Run(const Operation& operation,
                   Importance importance = Importance::kOrdinary);

  // Notes that another file of the store did not fit on the disk.
  void NoteFullDisk(const absl::Status& status);

  // Returns OK if the last operation could be stored, else why not.
  absl::Status health() const;

  // The number of operations that wait for the running one.
  size_t waiting() const;

 private:
  struct Request {
    const Operation* operation = nullptr;
    Importance importance = Importance::kOrdinary;
    absl::Status status;
    bool done = false;
  };

  void Work();
  // Serves the requests, each in its own way if they cannot share a
  // transaction, and sets their status.
  void Serve(const std::vector<Request*>& group) ABSL_LOCKS_EXCLUDED(mu_);
  void RunTogether(const std::vector<Request*>& group);
  // Runs the requests in one transaction and sets their status. Returns the
  // status of the transaction; if it is not OK, nothing is stored.
  absl::Status RunGroup(const std::vector<Request*>& group);
  // Returns true if there is space for more than the state of what runs.
  bool HasSpace();

  const std::unique_ptr<Database> database_;
  Reserve* const reserve_;
  mutable absl::Mutex mu_;
  std::deque<Request*> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool full_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status health_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_WRITER_H_

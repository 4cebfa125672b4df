#ifndef HONE_STORAGE_SQLITE_READER_POOL_H_
#define HONE_STORAGE_SQLITE_READER_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "storage/sqlite/database.h"

namespace hone::storage::sqlite {

// Read-only connections, each lent to one thread at a time.
// Threads: thread-safe.
class ReaderPool {
 public:
  // A connection on loan.
  class Lease {
   public:
    Lease(ReaderPool* pool, std::unique_ptr<Database> database);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Database& operator*() const { return *database_; }
    Database* operator->() const { return database_.get(); }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Database> database_;
  };

  // `databases` are kReadOnly; at least one.
  explicit ReaderPool(std::vector<std::unique_ptr<Database>> databases)
      : idle_(std::move(databases)) {}

  // Waits until a connection is idle.
  Lease Borrow();

 private:
  absl::Mutex mu_;
  std::vector<std::unique_ptr<Database>> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_READER_POOL_H_

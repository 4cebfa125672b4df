#include "storage/sqlite/reader_pool.h"

#include <utility>

namespace hone::storage::sqlite {

ReaderPool::Lease::Lease(ReaderPool* pool, std::unique_ptr<Database> database)
    : pool_(pool), database_(std::move(database)) {}

ReaderPool::Lease::~Lease() {
  absl::MutexLock lock(&pool_->mu_);
  pool_->idle_.push_back(std::move(database_));
}

ReaderPool::Lease ReaderPool::Borrow() {
  const auto has_idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !idle_.empty();
  };
  absl::MutexLock lock(&mu_, absl::Condition(&has_idle));
  // The last one given back: its page cache is the warmest.
  std::unique_ptr<Database> database = std::move(idle_.back());
  idle_.pop_back();
  return Lease(this, std::move(database));
}

}  // namespace hone::storage::sqlite

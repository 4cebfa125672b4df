#include "storage/sqlite/use_log.h"

#include <cstddef>
#include <utility>

namespace hone::storage::sqlite {
namespace {

// Beyond this, hits are not noted until the next batch: the order of eviction
// is a matter of cost only.
constexpr size_t kMaxRecords = 1 << 16;

}  // namespace

void UseLog::NoteRecord(const CacheKey& key) {
  absl::MutexLock lock(&mu_);
  if (records_.size() < kMaxRecords) records_.insert(key);
}

UseLog::Pin::Pin(UseLog& log, absl::string_view digest)
    : log_(log), digest_(digest) {
  absl::MutexLock lock(&log_.mu_);
  const auto is_free = [&] {
    log_.mu_.AssertReaderHeld();
    return !log_.condemned_.contains(digest_);
  };
  log_.mu_.Await(absl::Condition(&is_free));
  ++log_.pins_[digest_];
}

void UseLog::Pin::NoteUse() {
  absl::MutexLock lock(&log_.mu_);
  log_.blobs_.insert(digest_);
}

UseLog::Pin::~Pin() {
  absl::MutexLock lock(&log_.mu_);
  const auto pin = log_.pins_.find(digest_);
  if (--pin->second == 0) log_.pins_.erase(pin);
}

std::vector<CacheKey> UseLog::TakeRecords() {
  absl::flat_hash_set<CacheKey> taken;
  {
    absl::MutexLock lock(&mu_);
    taken.swap(records_);
  }
  return {taken.begin(), taken.end()};
}

std::vector<std::string> UseLog::Blobs() const {
  absl::MutexLock lock(&mu_);
  return {blobs_.begin(), blobs_.end()};
}

void UseLog::ForgetBlobs(absl::Span<const std::string> digests) {
  absl::MutexLock lock(&mu_);
  for (const std::string& digest : digests) blobs_.erase(digest);
}

bool UseLog::Condemn(absl::string_view digest) {
  absl::MutexLock lock(&mu_);
  if (blobs_.contains(digest) || pins_.contains(digest)) return false;
  condemned_.emplace(digest);
  return true;
}

void UseLog::Release(absl::Span<const std::string> digests) {
  absl::MutexLock lock(&mu_);
  for (const std::string& digest : digests) condemned_.erase(digest);
}

}  // namespace hone::storage::sqlite

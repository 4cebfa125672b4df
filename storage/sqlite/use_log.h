#ifndef HONE_STORAGE_SQLITE_USE_LOG_H_
#define HONE_STORAGE_SQLITE_USE_LOG_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "storage/record.h"

namespace hone::storage::sqlite {

// Collects which records and blobs are used, so that their rows are changed in
// batches, and keeps blobs in use from being removed.
// Threads: thread-safe.
class UseLog {
 public:
  void NoteRecord(const CacheKey& key);

  // Keeps a blob from being removed while it is stored, or looked for. Waits
  // while it is being removed.
  class Pin {
   public:
    Pin(UseLog& log, absl::string_view digest);
    ~Pin();
    // Notes the use of the blob, which is there: until that is stored, it is
    // not removed.
    void NoteUse();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    UseLog& log_;
    const std::string digest_;
  };

  std::vector<CacheKey> TakeRecords();
  // The blobs noted so far stay noted until they are forgotten, when their use
  // is stored.
  std::vector<std::string> Blobs() const;
  void ForgetBlobs(absl::Span<const std::string> digests);

  // Returns true if the blob is not in use. It can be removed then, and nobody
  // finds it until it is released.
  bool Condemn(absl::string_view digest);
  void Release(absl::Span<const std::string> digests);

 private:
  mutable absl::Mutex mu_;
  absl::flat_hash_set<CacheKey> records_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<std::string> blobs_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int> pins_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<std::string> condemned_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_USE_LOG_H_

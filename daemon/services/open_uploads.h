#ifndef HONE_DAEMON_SERVICES_OPEN_UPLOADS_H_
#define HONE_DAEMON_SERVICES_OPEN_UPLOADS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "daemon/limits.h"
#include "daemon/telemetry/metrics.h"

namespace hone::daemon {

// The unfinished uploads: how many there are, the bytes that they have sent,
// and which of them are idle. Ends those that are idle for too long.
// Threads: thread-safe, and no method blocks.
class OpenUploads {
 public:
  // Ends the call with a status, from another thread, unless it has ended.
  using Ender = std::function<void(absl::Status)>;

  // One upload, until its destruction. Threads: one at a time.
  class Upload {
   public:
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // Notes that a part with a chunk of `bytes` has come. Errors:
    // ResourceExhausted (OVERLOADED, with RetryInfo) if all uploads together
    // would hold too much.
    absl::Status Received(int64_t bytes);

   private:
    friend class OpenUploads;
    Upload(OpenUploads& owner, Ender end)
        : owner_(owner), end_(std::move(end)) {}

    OpenUploads& owner_;
    const Ender end_;
    // Guarded by the owner's mutex.
    int64_t bytes_ = 0;
    absl::Duration last_part_;
    std::list<Upload*>::iterator place_;
  };

  OpenUploads(const LimitValues& limits, Metrics& metrics);
  // All uploads have ended.
  ~OpenUploads();

  // Errors: ResourceExhausted (OVERLOADED, with RetryInfo) if there are too
  // many.
  absl::StatusOr<std::unique_ptr<Upload>> Open(Ender end);

 private:
  void RunReaper();
  void EndIdle() ABSL_LOCKS_EXCLUDED(mu_);

  const LimitValues& limits_;
  prometheus::Gauge& used_;
  prometheus::Gauge& used_bytes_;
  absl::Mutex mu_;
  std::list<Upload*> uploads_ ABSL_GUARDED_BY(mu_);
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread reaper_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_OPEN_UPLOADS_H_

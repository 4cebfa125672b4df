#ifndef HONE_DAEMON_ACCESS_BYTE_ACCOUNT_H_
#define HONE_DAEMON_ACCESS_BYTE_ACCOUNT_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include <prometheus/gauge.h>

namespace hone::daemon {

// The bytes of requests that the daemon holds, in all and by client.
// Threads: thread-safe, and no method blocks.
class ByteAccount {
 public:
  // At most `max_bytes` in all, `max_client_bytes` of one client. `used` shows
  // the sum.
  ByteAccount(int64_t max_bytes, int64_t max_client_bytes,
              prometheus::Gauge& used)
      : max_bytes_(max_bytes),
        max_client_bytes_(max_client_bytes),
        used_(used) {}

  // Errors: ResourceExhausted (OVERLOADED, with RetryInfo); nothing is taken.
  absl::Status Take(const std::string& client, int64_t bytes);
  // Gives back what the client has taken.
  void Release(const std::string& client, int64_t bytes);

 private:
  const int64_t max_bytes_;
  const int64_t max_client_bytes_;
  prometheus::Gauge& used_;
  absl::Mutex mu_;
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, int64_t> by_client_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_BYTE_ACCOUNT_H_

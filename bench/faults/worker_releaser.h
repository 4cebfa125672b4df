#ifndef HONE_BENCH_FAULTS_WORKER_RELEASER_H_
#define HONE_BENCH_FAULTS_WORKER_RELEASER_H_

#include <atomic>
#include <cstdint>
#include <thread>

#include "bench/service/daemon_process.h"

namespace hone::bench {

// Ends the quarantine of every worker while it lives, as an administrator would
// who knows why they fail.
class WorkerReleaser {
 public:
  // `daemon` outlives it.
  explicit WorkerReleaser(const DaemonProcess& daemon);
  ~WorkerReleaser() { Stop(); }
  WorkerReleaser(const WorkerReleaser&) = delete;
  WorkerReleaser& operator=(const WorkerReleaser&) = delete;

  void Stop();
  int64_t released() const { return released_; }

 private:
  void Work();

  const DaemonProcess& daemon_;
  std::atomic<bool> end_ = false;
  std::atomic<int64_t> released_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_WORKER_RELEASER_H_

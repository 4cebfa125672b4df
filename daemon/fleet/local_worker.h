#ifndef HONE_DAEMON_FLEET_LOCAL_WORKER_H_
#define HONE_DAEMON_FLEET_LOCAL_WORKER_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hone::daemon {

// A worker on the daemon's own machine: a process `hone worker` that talks to
// the daemon like any other worker. It is restarted when it dies, and it ends
// with the daemon, even if the daemon crashes.
class LocalWorker {
 public:
  // `program` is the command line's binary, `server` the daemon's address.
  // `log_json`: the worker writes its messages as the daemon's logs are.
  LocalWorker(std::string program, std::string server, bool log_json);
  // Stops the worker and waits for it.
  ~LocalWorker();
  LocalWorker(const LocalWorker&) = delete;
  LocalWorker& operator=(const LocalWorker&) = delete;

  // Returns the binary `hone` in the folder of this program; empty if there is
  // none.
  static std::string BinaryBesideThis();

 private:
  void KeepRunning();
  // Runs the worker until it ends or this object is destroyed.
  void RunOnce();

  const std::string program_;
  const std::string server_;
  const bool log_json_;
  absl::Mutex mu_;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  // The worker's process; -1 if there is none.
  int pid_ ABSL_GUARDED_BY(mu_) = -1;
  // The write end of the worker's stdin. The worker ends when it is closed.
  int stdin_ ABSL_GUARDED_BY(mu_) = -1;
  std::thread thread_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_LOCAL_WORKER_H_

#ifndef HONE_DAEMON_FLEET_LOCAL_WORKER_H_
#define HONE_DAEMON_FLEET_LOCAL_WORKER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/clock.h"

namespace hone::daemon {

// A worker on the daemon's own machine: a process `hone worker` that talks to
// the daemon like any other worker. It is restarted when it dies or hangs, and
// it ends with the daemon, even if the daemon crashes.
class LocalWorker {
 public:
  struct Options {
    // The command line's binary, and the daemon's address.
    std::string program;
    std::string server;
    // The worker writes its messages as the daemon's logs are.
    bool log_json = false;
    // Returns true if the daemon has lately heard from the worker with this id.
    std::function<bool(absl::string_view id)> is_connected;
    // A worker that is not connected for so long hangs, and is killed.
    absl::Duration longest_silence = absl::Seconds(45);
  };
  // The clock is that by which a silence is measured; it outlives the worker.
  LocalWorker(Options options, const Clock& clock);
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
  // Waits for the end of the process, and kills it if it hangs.
  void AwaitEnd(int pid, absl::string_view id);

  const Options options_;
  const Clock& clock_;
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

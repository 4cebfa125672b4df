#ifndef HONE_BENCH_SERVICE_DAEMON_PROCESS_H_
#define HONE_BENCH_SERVICE_DAEMON_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include "base/temporary_directory.h"

namespace hone::bench {

// The honed beside this executable, as a process of its own on loopback, which
// can be killed and started again on the same store.
class DaemonProcess {
 public:
  // `arguments`: further ones of honed.
  explicit DaemonProcess(std::vector<std::string> arguments = {});
  // Kills it.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Starts it and waits for its first answer; returns how long that took.
  // Errors: NotFound without a honed; Unavailable if it ended;
  // DeadlineExceeded after 30 s.
  absl::StatusOr<absl::Duration> Start();
  // kill -9.
  void Kill();
  // SIGTERM; returns the exit status, or 128 and a signal, and how long it
  // took.
  struct End {
    int status;
    absl::Duration took;
  };
  End Terminate();
  // Returns true if the process has not ended.
  bool IsAlive();

  pid_t pid() const { return pid_; }
  // The folder of its store.
  const std::string& state() const { return state_.path(); }
  const std::string& address() const { return address_; }
  int http_port() const { return http_port_; }
  // A connection that no other channel shares.
  std::shared_ptr<grpc::Channel> Connect() const;
  // Memory in use, and that of its children, in bytes.
  int64_t ResidentBytes() const;

 private:
  const std::vector<std::string> arguments_;
  const TemporaryDirectory state_;
  std::string address_;
  int http_port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_DAEMON_PROCESS_H_

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
  struct Options {
    // Further arguments of honed.
    std::vector<std::string> arguments = {};
    // "NAME=value", for honed and all that it starts.
    std::vector<std::string> environment = {};
    // A command that runs the one after it, such as nsenter.
    std::vector<std::string> wrapper = {};
    // Its state folder; empty: a temporary one.
    std::string state = "";
    // Listens on the Unix socket of its state, too, and Start and Connect use
    // that: for a configuration with which loopback needs tokens.
    bool over_socket = false;
  };

  DaemonProcess() : DaemonProcess(Options{}) {}
  explicit DaemonProcess(Options options);
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
  // The exit status of a process that ended by itself, or 128 and a signal.
  int exit_status() const { return exit_status_; }

  // The stderr of this start.
  std::string Errors() const;
  // The sum of a metric's series but for those that contain `without`;
  // negative if the HTTP port does not answer.
  double Metric(const std::string& name, const std::string& without = "") const;

  pid_t pid() const { return pid_; }
  // The folder of its store.
  const std::string& state() const { return state_; }
  const std::string& address() const { return address_; }
  int http_port() const { return http_port_; }
  // A connection that no other channel shares.
  std::shared_ptr<grpc::Channel> Connect() const;
  // One over loopback whatever the options.
  std::shared_ptr<grpc::Channel> ConnectOverLoopback() const;
  // Memory in use by honed itself, in bytes.
  int64_t ResidentBytes() const;

 private:
  std::string SocketAddress() const;

  const Options options_;
  const TemporaryDirectory own_state_;
  const TemporaryDirectory logs_;
  const std::string state_;
  const std::string errors_;   // the file of stderr
  const std::string address_;  // over loopback
  int http_port_ = 0;
  pid_t pid_ = -1;
  int exit_status_ = 0;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_DAEMON_PROCESS_H_

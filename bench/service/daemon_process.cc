#include "bench/service/daemon_process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "hone/v1/admin_service.grpc.pb.h"

namespace hone::bench {
namespace {

// A port that was free just now.
int FreePort() {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  const auto server = builder.BuildAndStart();
  return port;
}

}  // namespace

DaemonProcess::DaemonProcess(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)),
      address_(absl::StrCat("127.0.0.1:", FreePort())),
      http_port_(FreePort()) {}

DaemonProcess::~DaemonProcess() { Kill(); }

std::shared_ptr<grpc::Channel> DaemonProcess::Connect() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(),
                                   arguments);
}

absl::StatusOr<absl::Duration> DaemonProcess::Start() {
  std::error_code error;
  const std::filesystem::path binary =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() /
      "honed";
  if (error || access(binary.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(binary.string(), " is not there, expected honed"));
  }
  // Its worker says on stderr what becomes of the daemon.
  std::vector<std::string> arguments = {"-c",
                                        "exec \"$0\" \"$@\" 2>/dev/null",
                                        binary.string(),
                                        "--listen",
                                        address_,
                                        "--http",
                                        absl::StrCat("127.0.0.1:", http_port_),
                                        "--state",
                                        state_.path(),
                                        "--log-level",
                                        "off"};
  arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
  const absl::Duration start = SystemClock().Monotonic();
  HONE_ASSIGN_OR_RETURN(
      pid_, StartChildProcess({.program = "/bin/sh", .arguments = arguments}));
  while (SystemClock().Monotonic() - start < absl::Seconds(30)) {
    // A fresh channel each time: one that failed waits before it tries again.
    const auto stub = v1::AdminService::NewStub(Connect());
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    if (stub->GetServerInfo(&context, {}, &info).ok()) {
      return SystemClock().Monotonic() - start;
    }
    if (!IsAlive()) {
      return absl::UnavailableError("honed ended while it started");
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  return absl::DeadlineExceededError("honed did not serve within 30 s");
}

void DaemonProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

DaemonProcess::End DaemonProcess::Terminate() {
  const absl::Duration start = SystemClock().Monotonic();
  kill(pid_, SIGTERM);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          SystemClock().Monotonic() - start};
}

bool DaemonProcess::IsAlive() {
  if (pid_ < 0) return false;
  if (waitpid(pid_, nullptr, WNOHANG) != pid_) return true;
  pid_ = -1;
  return false;
}

int64_t DaemonProcess::ResidentBytes() const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/statm"));
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace hone::bench

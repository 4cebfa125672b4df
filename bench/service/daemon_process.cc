#include "bench/service/daemon_process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include <fcntl.h>
#include <httplib.h>
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

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  // Also the time that an attempt may take, on a busy machine.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

int ExitStatus(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

DaemonProcess::DaemonProcess(Options options)
    : options_(std::move(options)),
      state_(options_.state.empty() ? own_state_.path() : options_.state),
      errors_(logs_.path() + "/stderr"),
      address_(absl::StrCat("127.0.0.1:", FreePort())),
      http_port_(FreePort()) {}

DaemonProcess::~DaemonProcess() { Kill(); }

std::shared_ptr<grpc::Channel> DaemonProcess::Connect() const {
  return options_.over_socket ? ConnectTo(SocketAddress())
                              : ConnectOverLoopback();
}

std::shared_ptr<grpc::Channel> DaemonProcess::ConnectOverLoopback() const {
  return ConnectTo(address_);
}

std::string DaemonProcess::SocketAddress() const {
  return absl::StrCat("unix:", state_, "/hone.sock");
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
  // Its worker, too, writes to stderr.
  std::vector<std::string> arguments = {"-c", "exec 2>\"$0\"; exec \"$@\"",
                                        errors_};
  arguments.insert(arguments.end(), options_.wrapper.begin(),
                   options_.wrapper.end());
  for (const std::string& argument :
       {binary.string(), std::string("--listen"), address_,
        std::string("--http"), absl::StrCat("127.0.0.1:", http_port_),
        std::string("--state"), state_, std::string("--log-level"),
        std::string("off")}) {
    arguments.push_back(argument);
  }
  if (options_.over_socket) {
    arguments.insert(arguments.end(), {"--listen", SocketAddress()});
  }
  arguments.insert(arguments.end(), options_.arguments.begin(),
                   options_.arguments.end());
  const absl::Duration start = SystemClock().Monotonic();
  HONE_ASSIGN_OR_RETURN(
      pid_, StartChildProcess({.program = "/bin/sh",
                               .arguments = arguments,
                               .environment = options_.environment}));
  while (SystemClock().Monotonic() - start < absl::Seconds(30)) {
    // A fresh channel each time: one that failed waits before it tries again.
    const auto stub = v1::AdminService::NewStub(Connect());
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    if (stub->GetServerInfo(&context, {}, &info).ok()) {
      return SystemClock().Monotonic() - start;
    }
    if (!IsAlive()) {
      return absl::UnavailableError(
          absl::StrCat("honed ended while it started: ", Errors()));
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
  exit_status_ = ExitStatus(status);
  return {exit_status_, SystemClock().Monotonic() - start};
}

bool DaemonProcess::IsAlive() {
  if (pid_ < 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  pid_ = -1;
  exit_status_ = ExitStatus(status);
  return false;
}

std::string DaemonProcess::Errors() const {
  std::ifstream file(errors_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

double DaemonProcess::Metric(const std::string& name,
                             const std::string& without) const {
  httplib::Client client("127.0.0.1", http_port_);
  const httplib::Result result = client.Get("/metrics");
  if (!result) return -1;
  double sum = 0;
  for (absl::string_view line : absl::StrSplit(result->body, '\n')) {
    if (!absl::StartsWith(line, name) ||
        (!without.empty() && absl::StrContains(line, without))) {
      continue;
    }
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
    double value = 0;
    if (absl::SimpleAtod(parts.back(), &value)) sum += value;
  }
  return sum;
}

int64_t DaemonProcess::ResidentBytes() const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/statm"));
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace hone::bench

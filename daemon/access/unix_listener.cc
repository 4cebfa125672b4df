#include "daemon/access/unix_listener.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status_macros.h"

namespace hone::daemon {
namespace {

constexpr int kBacklog = 256;
// After a failure to accept, such as too many open files.
constexpr int kPauseMilliseconds = 100;

std::string LastError() { return std::generic_category().message(errno); }

absl::Status Cannot(absl::string_view what, const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat("cannot ", what, " the socket ", path, ": ", LastError(),
                   ", expected unix:PATH in a folder of this user"));
}

absl::StatusOr<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the path of the socket, \"", path, "\", has ", path.size(),
        " bytes, expected 1 to ", sizeof(address.sun_path) - 1,
        " (server.listen, or a shorter state folder)"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int MakeSocket() {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// Removes a socket on which nobody listens.
absl::Status RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return absl::OkStatus();
  if (!S_ISSOCK(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no socket, expected one, or nothing"));
  }
  const int probe = MakeSocket();
  const bool refused =
      connect(probe, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  if (!refused) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on unix:", path,
                     " for gRPC, expected a path on which no process listens"));
  }
  return unlink(path.c_str()) == 0 ? absl::OkStatus() : Cannot("replace", path);
}

class Listener final : public UnixListener {
 public:
  explicit Listener(std::function<void(int)> accepted)
      : accepted_(std::move(accepted)) {}

  ~Listener() override {
    if (thread_.joinable()) {
      const uint64_t one = 1;
      (void)!write(ending_, &one, sizeof(one));
      thread_.join();
    }
    // Only if it is still this one.
    struct stat status = {};
    if (bound_ && lstat(path_.c_str(), &status) == 0 &&
        status.st_ino == inode_) {
      unlink(path_.c_str());
    }
    if (socket_ >= 0) close(socket_);
    if (ending_ >= 0) close(ending_);
  }

  absl::Status Listen(const std::string& path) {
    path_ = path;
    HONE_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(path));
    const std::filesystem::path folder =
        std::filesystem::path(path).parent_path();
    // An existing one is left as it is: the credentials are checked anyway.
    if (!folder.empty()) mkdir(folder.c_str(), S_IRWXU);
    HONE_RETURN_IF_ERROR(RemoveStale(path, address));
    ending_ = eventfd(0, EFD_CLOEXEC);
    socket_ = MakeSocket();
    if (ending_ < 0 || socket_ < 0) return Cannot("make", path);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) != 0) {
      return Cannot("make", path);
    }
    bound_ = true;
    struct stat status = {};
    // Before it listens, nobody can connect.
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 ||
        lstat(path.c_str(), &status) != 0 || listen(socket_, kBacklog) != 0) {
      return Cannot("listen on", path);
    }
    inode_ = status.st_ino;
    thread_ = std::thread([this] { Accept(); });
    return absl::OkStatus();
  }

 private:
  void Accept() {
    pollfd events[2] = {{socket_, POLLIN, 0}, {ending_, POLLIN, 0}};
    while (true) {
      if (poll(events, 2, -1) < 0) continue;
      if (events[1].revents != 0) return;
      const int fd =
          accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        Check(fd);
      } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        spdlog::error("cannot accept a connection: {}", LastError());
        poll(&events[1], 1, kPauseMilliseconds);
      }
    }
  }

  void Check(int fd) {
    ucred peer = {};
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.uid == geteuid() || peer.uid == 0)) {
      accepted_(fd);
      return;
    }
    spdlog::warn("refused a connection of the user {} to the socket", peer.uid);
    close(fd);
  }

  const std::function<void(int)> accepted_;
  std::string path_;
  int socket_ = -1;
  int ending_ = -1;
  bool bound_ = false;
  ino_t inode_ = 0;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Start(
    const std::string& path, std::function<void(int fd)> accepted) {
  auto listener = std::make_unique<Listener>(std::move(accepted));
  HONE_RETURN_IF_ERROR(listener->Listen(path));
  return listener;
}

}  // namespace hone::daemon

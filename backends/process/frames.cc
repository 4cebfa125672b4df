#include "backends/process/frames.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"

namespace hone::backends {

std::string Frame(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  uint64_t length = bytes.size();
  std::string frame;
  for (int i = 0; i < 8; ++i, length >>= 8) {
    frame.push_back(static_cast<char>(length & 0xff));
  }
  return frame + bytes;
}

std::optional<std::string> TakeMessage(std::string& received) {
  if (received.size() < 8) return std::nullopt;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(received[i]);
  }
  if (received.size() - 8 < length) return std::nullopt;
  std::string message = received.substr(8, length);
  received.erase(0, 8 + length);
  return message;
}

absl::Status WriteAll(int fd, absl::string_view bytes, absl::Duration timeout) {
  const absl::Duration end = SystemClock().Monotonic() + timeout;
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      const absl::Duration left = end - SystemClock().Monotonic();
      pollfd ready = {fd, POLLOUT, 0};
      const int milliseconds = left == absl::InfiniteDuration()
                                   ? -1
                                   : static_cast<int>(absl::ToInt64Milliseconds(
                                         std::max(left, absl::ZeroDuration())));
      if (poll(&ready, 1, milliseconds) == 0) {
        return absl::DeadlineExceededError(
            absl::StrCat("a process has not read a pipe for ",
                         absl::FormatDuration(timeout)));
      }
      continue;
    }
    if (written < 0) {
      return absl::InternalError(absl::StrCat(
          "cannot write to a pipe: ", std::generic_category().message(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

bool ReadSome(int fd, std::string& received) {
  char buffer[1 << 16];
  ssize_t count = 0;
  do {
    count = read(fd, buffer, sizeof(buffer));
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return true;
  if (count <= 0) return false;
  received.append(buffer, static_cast<size_t>(count));
  return true;
}

}  // namespace hone::backends

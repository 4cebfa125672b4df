#ifndef HONE_BACKENDS_PROCESS_FRAMES_H_
#define HONE_BACKENDS_PROCESS_FRAMES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include <google/protobuf/message_lite.h>

// Framing of messages on a pipe: the length in 8 bytes, little-endian, then the
// bytes.
namespace hone::backends {

// Returns the message with its length in front.
std::string Frame(const google::protobuf::MessageLite& message);

// Removes the first message from `received` and returns it; nullopt if it is
// not complete.
std::optional<std::string> TakeMessage(std::string& received);

// Returns Internal if the reader has gone, and DeadlineExceeded if it has not
// read all within `timeout`; a timeout has an effect only on a descriptor that
// does not block.
absl::Status WriteAll(int fd, absl::string_view bytes,
                      absl::Duration timeout = absl::InfiniteDuration());

// Waits for input and appends it to `received`; returns false at the end of
// file.
bool ReadSome(int fd, std::string& received);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_FRAMES_H_

#ifndef HONE_BACKENDS_PROCESS_FRAMES_H_
#define HONE_BACKENDS_PROCESS_FRAMES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <google/protobuf/message_lite.h>

// Messages on a pipe: the length in 8 bytes, little-endian, then the bytes.
namespace hone::backends {

std::string Frame(const google::protobuf::MessageLite& message);

// The first message in `received`, taken out of it once it is complete.
std::optional<std::string> TakeMessage(std::string& received);

// Errors: Internal when nobody reads any more.
absl::Status WriteAll(int fd, absl::string_view bytes);

// Appends what there is to read, waiting for it; false at the end.
bool ReadSome(int fd, std::string& received);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_FRAMES_H_

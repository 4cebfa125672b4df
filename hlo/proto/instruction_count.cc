#include "hlo/proto/instruction_count.h"

#include <algorithm>
#include <cstddef>

#include "absl/functional/function_ref.h"
#include "google/protobuf/io/coded_stream.h"

#include "hlo/proto/hlo.pb.h"

namespace hone::hlo {
namespace {

using WireReader = google::protobuf::io::CodedInputStream;

// Calls `visit` with the contents of every field `number` of the message
// `bytes` and skips the others; stops where the message is malformed.
void ForEachField(absl::string_view bytes, int number,
                  absl::FunctionRef<void(absl::string_view)> visit) {
  WireReader in(reinterpret_cast<const uint8_t*>(bytes.data()),
                static_cast<int>(bytes.size()));
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t size = 0;
    uint64_t value = 0;
    switch (tag & 7) {
      case 0:
        if (!in.ReadVarint64(&value)) return;
        break;
      case 1:
        if (!in.Skip(8)) return;
        break;
      case 2: {
        if (!in.ReadVarint32(&size)) return;
        const auto at = static_cast<size_t>(in.CurrentPosition());
        if (size > bytes.size() - at) return;
        in.Skip(static_cast<int>(size));
        if ((tag >> 3) == static_cast<uint32_t>(number)) {
          visit(bytes.substr(at, size));
        }
        break;
      }
      case 5:
        if (!in.Skip(4)) return;
        break;
      default:
        return;
    }
  }
}

int64_t CountOfModule(absl::string_view module) {
  int64_t count = 0;
  ForEachField(module, xla::HloModuleProto::kComputationsFieldNumber,
               [&](absl::string_view computation) {
                 ForEachField(
                     computation,
                     xla::HloComputationProto::kInstructionsFieldNumber,
                     [&](absl::string_view) { ++count; });
               });
  return count;
}

}  // namespace

int64_t CountProtoInstructions(absl::string_view bytes) {
  int64_t count = CountOfModule(bytes);
  ForEachField(bytes, xla::HloProto::kHloModuleFieldNumber,
               [&](absl::string_view module) {
                 count = std::max(count, CountOfModule(module));
               });
  return count;
}

}  // namespace hone::hlo

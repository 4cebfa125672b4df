#ifndef HONE_HLO_PROTO_INSTRUCTION_COUNT_H_
#define HONE_HLO_PROTO_INSTRUCTION_COUNT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace hone::hlo {

// Instructions in a serialized HloModuleProto or HloProto, as far as it is well
// formed; found without allocating anything for them, so that a hostile file is
// refused before it is read. At most 2 GiB.
int64_t CountProtoInstructions(absl::string_view bytes);

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_INSTRUCTION_COUNT_H_

#ifndef HONE_HLO_PROTO_IO_H_
#define HONE_HLO_PROTO_IO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "hlo/text/parser.h"

namespace hone::hlo {

// Reads a serialized xla.HloModuleProto (or an xla.HloProto that holds one).
// Fields that Hone does not know are kept and written back.
// Errors: InvalidArgument, "FILE: computation C, instruction I: what, expected
// what".
absl::StatusOr<Module> ParseHloProto(absl::string_view bytes,
                                     absl::string_view file_name = "<proto>",
                                     const ReadLimits& limits = {});

// Writes an xla.HloModuleProto that XLA accepts: callees and operands first,
// small sequential ids unique in the module, names unique.
// Errors: FailedPrecondition when the module holds elided constants;
// InvalidArgument when an attribute kept as text has no place in the proto.
absl::StatusOr<std::string> SerializeHloProto(const Module& module);

// Reads `bytes` as HLO text or as a proto, whichever it is.
absl::StatusOr<Module> ParseHlo(absl::string_view bytes,
                                absl::string_view file_name,
                                const ReadLimits& limits = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_IO_H_

#ifndef HONE_HLO_PROTO_LITERAL_H_
#define HONE_HLO_PROTO_LITERAL_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "hlo/ir/literal.h"

namespace hone::xla {
class LiteralProto;
}  // namespace hone::xla

namespace hone::hlo {

// `proto` keeps its meaning. Allocates no more than a small multiple of the
// proto's size. Errors: InvalidArgument when shape and values do not fit
// together.
absl::StatusOr<Literal> ReadLiteralProto(xla::LiteralProto& proto);

// Errors: FailedPrecondition for an elided literal.
absl::Status WriteLiteralProto(const Literal& literal,
                               xla::LiteralProto& proto);

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_LITERAL_H_

#ifndef HONE_HLO_PROTO_CODECS_H_
#define HONE_HLO_PROTO_CODECS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/ir/opcode.h"
#include "hlo/text/lexer.h"

namespace hone::xla {
class HloInstructionProto;
}  // namespace hone::xla

namespace hone::hlo {

// Converts one attribute of Attributes::others between its text and the fields
// of the proto.
struct Codec {
  absl::string_view name;
  // The only opcode that has it; kUnknown for any.
  Opcode opcode;
  // Fills the fields from the value; false when it cannot.
  bool (*write)(TextLexer& lexer, xla::HloInstructionProto& proto);
  // Appends the value and clears the fields; false when they say nothing, or
  // nothing that text can say.
  bool (*take)(xla::HloInstructionProto& proto, std::string& value);

  bool AppliesTo(Opcode other) const {
    return opcode == Opcode::kUnknown || opcode == other;
  }
};

// All of them, in the order in which XLA prints the attributes.
absl::Span<const Codec> AttributeCodecs();

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_CODECS_H_

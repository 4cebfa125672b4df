#ifndef HONE_HLO_PROTO_CODEC_VALUES_H_
#define HONE_HLO_PROTO_CODEC_VALUES_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/text/lexer.h"

namespace hone::xla {
class HloInstructionProto;
}  // namespace hone::xla

// The values that are more than a number, a flag, a name or a string. Pairs as
// Codec::write and Codec::take demand.
namespace hone::hlo {

bool WriteOperandPrecision(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeOperandPrecision(xla::HloInstructionProto& proto, std::string& value);

bool WriteReplicaGroups(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeReplicaGroups(xla::HloInstructionProto& proto, std::string& value);

bool WriteSourceTargetPairs(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeSourceTargetPairs(xla::HloInstructionProto& proto, std::string& value);

bool WriteOperandLayouts(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeOperandLayouts(xla::HloInstructionProto& proto, std::string& value);

bool WriteAliasing(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeAliasing(xla::HloInstructionProto& proto, std::string& value);

bool WriteResultAccuracy(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeResultAccuracy(xla::HloInstructionProto& proto, std::string& value);

bool WriteParameterReplication(TextLexer& lexer,
                               xla::HloInstructionProto& proto);
bool TakeParameterReplication(xla::HloInstructionProto& proto,
                              std::string& value);

bool WriteShardingAttribute(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeShardingAttribute(xla::HloInstructionProto& proto, std::string& value);

bool WriteBackendConfig(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeBackendConfig(xla::HloInstructionProto& proto, std::string& value);

bool WriteOutfeedShape(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeOutfeedShape(xla::HloInstructionProto& proto, std::string& value);

bool WriteInferredDimension(TextLexer& lexer, xla::HloInstructionProto& proto);
bool TakeInferredDimension(xla::HloInstructionProto& proto, std::string& value);

// The names of an enum's numbers, from 0 on; empty for one that text leaves
// out.
using Names = absl::Span<const absl::string_view>;

inline bool ReadName(TextLexer& lexer, Names names, int32_t& number) {
  const absl::string_view word = lexer.Word();
  const auto it = std::find(names.begin(), names.end(), word);
  number = static_cast<int32_t>(it - names.begin());
  return it != names.end() && !word.empty();
}

inline bool HasName(int32_t number, Names names) {
  return number >= 0 && static_cast<size_t>(number) < names.size() &&
         !names[static_cast<size_t>(number)].empty();
}

// Quoted, with C escapes.
std::string Quoted(absl::string_view bytes);

// Returns true if the text reader takes `text` as one attribute value, whole.
bool IsAttributeValue(absl::string_view text);

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_CODEC_VALUES_H_

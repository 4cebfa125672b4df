#ifndef HONE_HLO_PROTO_SHARDING_H_
#define HONE_HLO_PROTO_SHARDING_H_

#include <string>

#include "hlo/text/lexer.h"

namespace hone::xla {
class OpSharding;
}  // namespace hone::xla

namespace hone::hlo {

// Reads `{replicated}`, `{devices=[2,1]<=[2]}`, `{{manual}, {replicated}}` and
// the like. False for forms that have no text here.
bool ReadSharding(TextLexer& lexer, xla::OpSharding& sharding);

// The reverse, as XLA prints it. False, and `text` unspecified, when the
// sharding says something that this text does not.
bool ShardingText(const xla::OpSharding& sharding, std::string& text);

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_SHARDING_H_

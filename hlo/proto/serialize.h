#ifndef HONE_HLO_PROTO_SERIALIZE_H_
#define HONE_HLO_PROTO_SERIALIZE_H_

#include <string>

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace hone::hlo {

// The bytes of a message, maps in the order of their keys: equal messages have
// equal bytes.
std::string SerializeProto(const google::protobuf::MessageLite& message);

}  // namespace hone::hlo

#endif  // HONE_HLO_PROTO_SERIALIZE_H_

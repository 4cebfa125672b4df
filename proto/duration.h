#ifndef HONE_PROTO_DURATION_H_
#define HONE_PROTO_DURATION_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include <google/protobuf/duration.pb.h>

namespace hone {

// Returns the duration as messages have it: at most the 10,000 years that
// google.protobuf.Duration allows.
inline google::protobuf::Duration ToProtoDuration(absl::Duration duration) {
  constexpr absl::Duration kMost = absl::Seconds(int64_t{315'576'000'000});
  duration = std::clamp(duration, -kMost, kMost);
  google::protobuf::Duration proto;
  proto.set_seconds(absl::ToInt64Seconds(duration));
  proto.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(duration % absl::Seconds(1))));
  return proto;
}

inline absl::Duration FromProtoDuration(
    const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace hone

#endif  // HONE_PROTO_DURATION_H_

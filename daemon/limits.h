#ifndef HONE_DAEMON_LIMITS_H_
#define HONE_DAEMON_LIMITS_H_

#include <cstdint>

namespace hone::daemon {

// Largest message that the server receives.
inline constexpr int64_t kMaxMessageBytes = int64_t{16} << 20;
// Largest module in a request, which leaves room for the rest of the message.
inline constexpr int64_t kMaxInlineBytes = int64_t{15} << 20;
// Chunks of an upload, the last one excepted from the minimum.
inline constexpr int64_t kMinChunkBytes = int64_t{64} << 10;
inline constexpr int64_t kMaxChunkBytes = int64_t{1} << 20;
// Digests in one QueryModules.
inline constexpr int32_t kMaxQueryDigests = 10'000;
// Requests in one StepBatch.
inline constexpr int32_t kMaxBatchSteps = 4096;
// Longest episode of an environment.
inline constexpr int32_t kMaxEpisodeSteps = 10'000;
// Observations in one response, all together.
inline constexpr int64_t kMaxObservationBytes = int64_t{64} << 20;
// Largest page of a listing, for every Store.
inline constexpr int32_t kMaxPageSize = 1000;

}  // namespace hone::daemon

#endif  // HONE_DAEMON_LIMITS_H_

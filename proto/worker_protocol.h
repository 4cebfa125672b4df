#ifndef HONE_PROTO_WORKER_PROTOCOL_H_
#define HONE_PROTO_WORKER_PROTOCOL_H_

#include <cstdint>

namespace hone {

// The versions of WorkerService's protocol that a daemon accepts. A change that
// a worker of the last version cannot ignore is a new version; the oldest goes
// when no release speaks it any more.
inline constexpr int32_t kMinWorkerProtocol = 1;
// The one that this program's own workers speak.
inline constexpr int32_t kMaxWorkerProtocol = 1;

// A kind of work: SynchronizeRequest.capabilities.
inline constexpr char kKernelWork[] = "kernel";

}  // namespace hone

#endif  // HONE_PROTO_WORKER_PROTOCOL_H_

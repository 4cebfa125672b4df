#ifndef HONE_DAEMON_LIMITS_H_
#define HONE_DAEMON_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

// The limits of the daemon. limits.def lists them all, with what a refused
// caller sees; here are the values that the configuration cannot change.
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
// Calls that a process of environments has, the one that it does and those that
// wait, once that one or their wait takes long. There are as many threads for
// each process, so that those of one that is stuck leave the threads of others
// alone.
inline constexpr int kMaxEnvironmentCalls = 8;
// Requests that wait for another one with their request_id, of all callers and
// of one: half of the threads that they may take from others.
inline constexpr int kMaxRepetitions = 2;
inline constexpr int kMaxRepetitionsOfCaller = 1;
// Tasks of one Compile.
inline constexpr int kMaxCompileTasks = 8;
// Largest page of a listing, for every Store.
inline constexpr int32_t kMaxPageSize = 1000;
// The id by which a client repeats a request. A UUID has 36 bytes.
inline constexpr int64_t kMaxRequestIdBytes = 128;

inline constexpr int64_t kMaxRequestIdsPerCaller = 4096;
inline constexpr int64_t kMaxRequestIds = 16'384;
inline constexpr int64_t kMaxRememberedAnswerBytes = int64_t{64} << 20;
inline constexpr int kMaxTuningShares = 1024;

// Limits of WorkerService, whose clients are not believed.
//
// Connected workers, in all and at one address.
inline constexpr int64_t kMaxWorkers = 10'000;
inline constexpr int64_t kMaxWorkersPerClient = 1000;
// Ids, names of machines, kinds and fingerprints. A UUID has 36 bytes.
inline constexpr int64_t kMaxWorkerNameBytes = 128;
// Model and instruction set of a device. LLVM's list of features takes 2 KiB.
inline constexpr int64_t kMaxDeviceTextBytes = int64_t{16} << 10;
// As in tuning/tasks/kernel.cc.
inline constexpr int64_t kMaxDeviceThreads = 1024;
inline constexpr int64_t kMaxDeviceCacheBytes = int64_t{1} << 40;
// Completions in one call of a worker with fewer devices; otherwise one for
// each. A device has one piece of work at a time and gets no other before the
// daemon has answered.
inline constexpr int64_t kMaxCompletions = 4;
// Candidates of one piece of work, and so of its report.
inline constexpr int64_t kMaxWorkCandidates = 1024;
// Samples of one timing; `hone measure` takes at most 128.
inline constexpr int64_t kMaxTimingSamples = 1024;
inline constexpr int64_t kMaxCalibrationLevels = 64;
// The message of a candidate's outcome, and of an error of the work. Workers
// shorten theirs.
inline constexpr int64_t kMaxOutcomeMessageBytes = int64_t{4} << 10;
inline constexpr int64_t kMaxWorkErrorBytes = int64_t{16} << 10;
// Largest module that is part of a piece of work; a larger one is fetched by
// its digest.
inline constexpr int64_t kMaxWorkModuleBytes = int64_t{64} << 10;
// The rest of a piece of work: its scripts. Together with the module it is less
// than the 4 MiB that a gRPC client receives by default.
inline constexpr int64_t kMaxWorkBytes = int64_t{3} << 20;

// As WorkerService.Synchronize says.
inline constexpr int64_t kMaxWorkerDevices = 64;
inline constexpr int64_t kMaxWorkerCapabilities = 32;

// Open connections of the HTTP port, and the head of one request.
inline constexpr int64_t kMaxHttpConnections = 512;
inline constexpr int64_t kMaxHttpHeadBytes = int64_t{8} << 10;
// Longer tokens are not hashed.
inline constexpr int64_t kMaxTokenBytes = 1024;

// One per two cores.
int DefaultRunningTunings();
// Three quarters of the machine's memory.
int64_t DefaultProcessMemory();

// The limits that the configuration sets, under [limits].
struct LimitValues {
#define HONE_LIMIT_KEY(type, name, unit, default_value, least, largest, code, \
                       reason, use, text)                                     \
  type name = default_value;
#define HONE_LIMIT_SECONDS(name, default_value, least, largest, code, reason, \
                           use, text)                                         \
  absl::Duration name = default_value;
#include "daemon/limits.def"

  bool operator==(const LimitValues&) const = default;
};

// A line of limits.def.
struct Limit {
  absl::string_view name;
  // The key in [limits]; empty if it is a constant.
  absl::string_view key;
  absl::string_view unit;
  // The value for a configuration; seconds of a time, 0 if there is no one
  // value.
  double (*value)(const LimitValues& values);
  // The range of the key.
  int64_t least = 0;
  int64_t largest = 0;
  // The status of a refused call; empty if the limit refuses nothing.
  absl::string_view code;
  absl::string_view reason;
  // The gauge that shows how much is used; empty if there is none.
  absl::string_view use;
  absl::string_view text;
};

// All limits, in the order of limits.def.
absl::Span<const Limit> Limits();
// Returns null for an unknown name.
const Limit* FindLimit(absl::string_view name);
// Returns the table of docs/OPERATIONS.md, in Markdown.
std::string LimitsTable();

}  // namespace hone::daemon

#endif  // HONE_DAEMON_LIMITS_H_

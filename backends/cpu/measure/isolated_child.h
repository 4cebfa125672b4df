#ifndef HONE_BACKENDS_CPU_MEASURE_ISOLATED_CHILD_H_
#define HONE_BACKENDS_CPU_MEASURE_ISOLATED_CHILD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hone::backends {

// Memory shared between this process and its children, initially zero.
class SharedMemory {
 public:
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(int64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Aligned to 64 bytes, between two guard pages. Ends within 64 bytes of the
  // second one, so that a write past the end crashes.
  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  // Lets neither this process write it from now on, nor children that start
  // later: those of now still can.
  void MakeReadOnly();

 private:
  SharedMemory(std::byte* mapping, int64_t mapped_bytes, std::byte* data,
               int64_t bytes)
      : mapping_(mapping),
        mapped_bytes_(mapped_bytes),
        data_(data),
        bytes_(bytes) {}

  std::byte* const mapping_;
  const int64_t mapped_bytes_;
  std::byte* const data_;
  const int64_t bytes_;
};

struct ChildLimits {
  // Wall-clock time, after which the child is killed.
  absl::Duration timeout = absl::Seconds(10);
  // Address space beyond that of this process.
  int64_t memory_bytes = int64_t{4} << 30;
};

enum class ChildEnd { kDone, kCrashed, kTimeout };

struct ChildOutcome {
  ChildEnd end = ChildEnd::kDone;
  // The reason of a crash: "killed by signal 11 (Segmentation fault)".
  std::string message;
};

// A forked child that runs a function, which may crash, hang, write anywhere or
// exhaust memory without harm to this process.
class IsolatedChild {
 public:
  // Starts `body`, which returns its results in SharedMemory. The child starts
  // with a single thread, so this process must have no threads that hold locks.
  // The child runs no destructors or exit handlers. Errors: ResourceExhausted
  // if the child cannot be created.
  static absl::StatusOr<IsolatedChild> Start(const std::function<void()>& body,
                                             const ChildLimits& limits);
  // Kills the child if it has not been waited for.
  ~IsolatedChild();
  IsolatedChild(IsolatedChild&& other) noexcept;
  IsolatedChild& operator=(IsolatedChild&& other) = delete;

  // Until it has been waited for.
  int64_t pid() const { return pid_; }

  // Waits for the end, at most for the timeout since the start; once. Errors:
  // ResourceExhausted if the child cannot be waited for.
  absl::StatusOr<ChildOutcome> Await();

 private:
  IsolatedChild(int64_t pid, absl::Duration end, absl::Duration timeout)
      : pid_(pid), end_(end), timeout_(timeout) {}

  int64_t pid_;         // -1 once waited for
  absl::Duration end_;  // on the monotonic clock
  absl::Duration timeout_;
};

// Starts `body` in a child and waits for its end. Errors: those of both.
absl::StatusOr<ChildOutcome> RunInChild(const std::function<void()>& body,
                                        const ChildLimits& limits);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_ISOLATED_CHILD_H_

#ifndef HONE_BACKENDS_CPU_ISOLATED_CHILD_H_
#define HONE_BACKENDS_CPU_ISOLATED_CHILD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hone::backends {

// Memory that this process and its children see alike. Zero at first.
class SharedMemory {
 public:
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(int64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Aligned to 64 bytes, and ends within 64 bytes of a page that cannot be
  // touched, so that writing past it is a crash; another one lies before it.
  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

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
  // Address space on top of what this process has.
  int64_t memory_bytes = int64_t{4} << 30;
};

enum class ChildEnd { kDone, kCrashed, kTimeout };

struct ChildOutcome {
  ChildEnd end = ChildEnd::kDone;
  // Of a crash: "killed by signal 11 (Segmentation fault)".
  std::string message;
};

// Runs `body` in a forked child, whatever it may do: crash, hang, write
// anywhere, take all memory. What it leaves in SharedMemory is its result.
// The child has one thread at first, no other of this process: call it from a
// process without threads that hold locks. It inherits no more of the parent's
// life than its memory: no destructors or exit handlers run.
// Errors: ResourceExhausted when no process can be made or waited for.
absl::StatusOr<ChildOutcome> RunInChild(const std::function<void()>& body,
                                        const ChildLimits& limits);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_ISOLATED_CHILD_H_

#include "bench/placement/peak_memory.h"

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include <malloc.h>

#include "base/status_macros.h"
#include "bench/cpu_time.h"

namespace hone::bench {
namespace {

// Returns a field of /proc/self/status, given in kilobytes, in bytes.
absl::StatusOr<int64_t> MemoryField(absl::string_view name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  int64_t kilobytes = 0;
  while (file >> word) {
    if (word == name && file >> kilobytes) return kilobytes * 1024;
  }
  return absl::UnavailableError(
      absl::StrCat("/proc/self/status has no ", name));
}

// Makes the peak what is resident now.
absl::Status ResetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  if (!(file << 5 << std::flush)) {
    return absl::UnavailableError("/proc/self/clear_refs cannot be written");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Usage> MeasureUsage(const std::function<void()>& work) {
  malloc_trim(0);
  HONE_RETURN_IF_ERROR(ResetPeak());
  HONE_ASSIGN_OR_RETURN(const int64_t before, MemoryField("VmRSS:"));
  const absl::Duration start = ProcessCpuTime();
  work();
  Usage usage;
  usage.cpu_time = ProcessCpuTime() - start;
  HONE_ASSIGN_OR_RETURN(usage.peak_bytes, MemoryField("VmHWM:"));
  usage.bytes = usage.peak_bytes - before;
  return usage;
}

}  // namespace hone::bench

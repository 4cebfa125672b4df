#include "backends/cpu/measure/core_split.h"

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace hone::backends {
namespace {

// Removes the processors of the same core as `processor`, itself included, from
// `set`; all if they are unknown. The list is as "0,64" or "0-1".
void RemoveSiblings(int processor, cpu_set_t& set) {
  std::ifstream file(absl::StrCat("/sys/devices/system/cpu/cpu", processor,
                                  "/topology/thread_siblings_list"));
  std::string list;
  std::getline(file, list);
  for (absl::string_view range : absl::StrSplit(list, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(range, absl::MaxSplits('-', 1));
    int first = 0;
    int last = 0;
    if (!absl::SimpleAtoi(ends.first, &first) ||
        !absl::SimpleAtoi(ends.second.empty() ? ends.first : ends.second,
                          &last)) {
      CPU_ZERO(&set);
      return;
    }
    for (int i = first; i <= last && i < CPU_SETSIZE; ++i) {
      CPU_CLR(static_cast<size_t>(i), &set);
    }
  }
}

}  // namespace

CoreSplit CoreSplit::Here(int32_t threads) {
  CoreSplit split;
  CPU_ZERO(&split.timing_);
  CPU_ZERO(&split.compiling_);
  const int here = sched_getcpu();
  if (threads != 1 || here < 0 ||
      sched_getaffinity(0, sizeof(cpu_set_t), &split.compiling_) != 0) {
    return split;
  }
  CPU_SET(static_cast<size_t>(here), &split.timing_);
  RemoveSiblings(here, split.compiling_);
  split.is_split_ = CPU_COUNT(&split.compiling_) > 0;
  return split;
}

void CoreSplit::Time() const {
  if (is_split_) sched_setaffinity(0, sizeof(cpu_set_t), &timing_);
}

void CoreSplit::Compile() const {
  if (is_split_) sched_setaffinity(0, sizeof(cpu_set_t), &compiling_);
}

void CoreSplit::UseAll(int64_t child) const {
  if (!is_split_) return;
  cpu_set_t all;
  CPU_OR(&all, &timing_, &compiling_);
  // A child that has ended has no use for it.
  sched_setaffinity(static_cast<pid_t>(child), sizeof(all), &all);
}

void PinToThisCore() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &cores);
  sched_setaffinity(0, sizeof(cores), &cores);
}

}  // namespace hone::backends

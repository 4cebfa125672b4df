#include "cli/memory_note.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "cli/command.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/out_of_memory.h"

namespace hone::cli {
namespace {

constexpr unsigned long kMiB = 1 << 20;

// All of a fixed size, as nothing can be allocated in the end.
std::array<char, 512> work_text = {"starting"};

// What this process has, in MiB; 0 if unknown.
struct Size {
  unsigned long addresses = 0;
  unsigned long resident = 0;
};
Size SizeNow() {
  std::array<char, 128> text = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = read(file, text.data(), text.size() - 1);
  close(file);
  if (bytes <= 0) return {};
  const auto page = static_cast<unsigned long>(sysconf(_SC_PAGESIZE));
  char* rest = text.data();
  const unsigned long addresses = std::strtoul(rest, &rest, 10);
  const unsigned long resident = std::strtoul(rest, &rest, 10);
  return {addresses * page / kMiB, resident * page / kMiB};
}

[[noreturn]] void End(const char* what) {
  const Size size = SizeNow();
  // What is only reserved counts as well where addresses are limited.
  rlimit limit = {};
  std::array<char, 128> use;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    std::snprintf(use.data(), use.size(),
                  "%lu MiB of addresses are used, the limit is %lu MiB "
                  "(ulimit -v)",
                  size.addresses,
                  static_cast<unsigned long>(limit.rlim_cur) / kMiB);
  } else {
    std::snprintf(use.data(), use.size(), "%lu MiB are used", size.resident);
  }
  std::array<char, 1024> line;
  const int length = std::snprintf(
      line.data(), line.size(),
      "hone: %s while %s: %s, expected more memory or a smaller module or "
      "graph\n",
      what, work_text.data(), use.data());
  // Nothing can be done if that fails.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(),
            std::min(static_cast<size_t>(std::max(length, 0)), line.size()));
  // Without exit handlers: those of libraries may wait for threads that wait
  // for memory.
  _exit(kFailed);
}

}  // namespace

void EndWhenMemoryRunsOut() { SetOutOfMemoryHandler(End); }

void NoteWork(absl::string_view work) {
  const size_t length = std::min(work.size(), work_text.size() - 1);
  std::copy_n(work.begin(), length, work_text.begin());
  work_text[length] = '\0';
}

}  // namespace hone::cli

#include "daemon/telemetry/process_metrics.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include <sys/resource.h>
#include <unistd.h>

namespace hone::daemon {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Seconds since the epoch when the system was started.
double BootTime() {
  for (absl::string_view line : absl::StrSplit(ReadFile("/proc/stat"), '\n')) {
    int64_t seconds = 0;
    if (absl::ConsumePrefix(&line, "btime ") &&
        absl::SimpleAtoi(line, &seconds)) {
      return static_cast<double>(seconds);
    }
  }
  return 0;
}

int64_t OpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return 0;
  return std::distance(begin(files), end(files));
}

// The memory that the process may use: the machine's, or less if it or a cgroup
// above it has a limit (memory.max of version 2).
double MemoryLimit() {
  double limit = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                 static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string cgroups = ReadFile("/proc/self/cgroup");
  for (absl::string_view line : absl::StrSplit(cgroups, '\n')) {
    if (!absl::ConsumePrefix(&line, "0::/")) continue;
    std::filesystem::path group =
        std::filesystem::path("/sys/fs/cgroup") / std::string(line);
    for (; group != "/sys/fs"; group = group.parent_path()) {
      double bytes = 0;
      const std::string text = ReadFile((group / "memory.max").c_str());
      // "max" is no number.
      if (absl::SimpleAtod(text, &bytes)) limit = std::min(limit, bytes);
    }
  }
  return limit;
}

void Append(std::string& text, absl::string_view name, absl::string_view type,
            absl::string_view help, double value) {
  absl::StrAppendFormat(&text, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name,
                        help, name, type, name, value);
}

}  // namespace

std::string ProcessMetrics() {
  // The fields of proc(5) stat from the third on: the second, the command, may
  // hold blanks and ends with the last parenthesis.
  const std::string stat = ReadFile("/proc/self/stat");
  const size_t command_end = stat.rfind(')');
  if (command_end == std::string::npos) return "";
  const std::vector<absl::string_view> fields = absl::StrSplit(
      absl::string_view(stat).substr(command_end + 1), ' ', absl::SkipEmpty());
  const auto field = [&](size_t number) {  // as in proc(5), from 3
    double value = 0;
    if (number - 3 < fields.size() &&
        !absl::SimpleAtod(fields[number - 3], &value)) {
      return 0.0;
    }
    return value;
  };
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);

  std::string text;
  Append(text, "process_cpu_seconds_total", "counter",
         "User and system CPU time.", (field(14) + field(15)) / ticks);
  Append(text, "process_open_fds", "gauge", "Open file descriptors.",
         static_cast<double>(OpenFiles()));
  Append(text, "process_max_fds", "gauge", "Most open file descriptors.",
         static_cast<double>(files.rlim_cur));
  Append(text, "process_virtual_memory_bytes", "gauge", "Virtual memory.",
         field(23));
  Append(text, "process_resident_memory_bytes", "gauge", "Resident memory.",
         field(24) * page);
  Append(text, "process_memory_limit_bytes", "gauge",
         "Memory that the machine and the cgroups allow.", MemoryLimit());
  Append(text, "process_start_time_seconds", "gauge",
         "Start of the process since the epoch.",
         BootTime() + field(22) / ticks);
  Append(text, "process_threads", "gauge", "Threads.", field(20));
  return text;
}

}  // namespace hone::daemon

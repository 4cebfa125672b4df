#include "daemon/limits.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <unistd.h>

namespace hone::daemon {
namespace {

constexpr Limit kLimits[] = {
#define HONE_LIMIT_KEY(type, name, unit, default_value, least, largest, code,  \
                       reason, use, text)                                      \
  {#name,                                                                      \
   #name,                                                                      \
   unit,                                                                       \
   [](const LimitValues& values) { return static_cast<double>(values.name); }, \
   least,                                                                      \
   largest,                                                                    \
   code,                                                                       \
   reason,                                                                     \
   use,                                                                        \
   text},
#define HONE_LIMIT_SECONDS(name, default_value, least, largest, code, reason, \
                           use, text)                                         \
  {#name,                                                                     \
   #name "_seconds",                                                          \
   "seconds",                                                                 \
   [](const LimitValues& values) {                                            \
     return absl::ToDoubleSeconds(values.name);                               \
   },                                                                         \
   least,                                                                     \
   largest,                                                                   \
   code,                                                                      \
   reason,                                                                    \
   use,                                                                       \
   text},
#define HONE_LIMIT_FIXED(name, unit, fixed, code, reason, use, text) \
  {#name, "",                                                        \
   unit,  [](const LimitValues&) { return static_cast<double>(fixed); },                                \
   0,     0,                                                         \
   code,  reason,                                                    \
   use,   text},
#include "daemon/limits.def"
};

// Defaults that depend on the machine are not written down.
bool DependsOnMachine(const Limit& limit) {
  return limit.name == "max_running_tunings" ||
         limit.name == "process_memory_bytes";
}

// 536870912 bytes as "512 MiB"; other numbers as they are, without the unit.
std::string Number(int64_t value, absl::string_view unit) {
  if (unit == "bytes") {
    for (const auto& [shift, suffix] :
         {std::pair(40, "TiB"), std::pair(30, "GiB"), std::pair(20, "MiB"),
          std::pair(10, "KiB")}) {
      const int64_t one = int64_t{1} << shift;
      if (value >= one && value % one == 0) {
        return absl::StrCat(value / one, " ", suffix);
      }
    }
  }
  return absl::StrCat(value);
}

std::string Value(const Limit& limit) {
  if (DependsOnMachine(limit)) return "";
  const auto value = static_cast<int64_t>(limit.value(LimitValues()));
  if (value == 0) return "";
  const std::string number = Number(value, limit.unit);
  if (absl::EndsWith(number, "B")) return number;
  return absl::StrCat(number, " ", limit.unit);
}

std::string Code(absl::string_view text) {
  return text.empty() ? "" : absl::StrCat("`", text, "`");
}

}  // namespace

int64_t DefaultProcessMemory() {
  const int64_t bytes =
      int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return bytes / 4 * 3;
}

int DefaultRunningTunings() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency() / 2));
}

absl::Span<const Limit> Limits() { return kLimits; }

const Limit* FindLimit(absl::string_view name) {
  for (const Limit& limit : kLimits) {
    if (limit.name == name) return &limit;
  }
  return nullptr;
}

std::string LimitsTable() {
  std::string table =
      "| limit | key of `[limits]`, its range | default | what it bounds | "
      "refused with | used |\n|---|---|---|---|---|---|\n";
  for (const Limit& limit : kLimits) {
    const std::string key =
        limit.key.empty()
            ? ""
            : absl::StrCat("`", limit.key, "`, ",
                           Number(limit.least, limit.unit), " to ",
                           Number(limit.largest, limit.unit));
    const std::string refusal =
        limit.code.empty()
            ? ""
            : absl::StrCat("`", limit.code, "` (`", limit.reason, "`)");
    absl::StrAppend(&table, "| ", limit.name, " | ", key, " | ", Value(limit),
                    " | ", limit.text, " | ", refusal, " | ", Code(limit.use),
                    " |\n");
  }
  return table;
}

}  // namespace hone::daemon

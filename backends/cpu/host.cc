#include "backends/cpu/host.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/TargetParser/Host.h>
#include <sched.h>

#include "base/hash.h"
#include "base/processor.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Parses "512K", "32M"; returns 0 if it is not a size.
int64_t ParseSize(absl::string_view text) {
  int64_t unit = 1;
  if (absl::ConsumeSuffix(&text, "K")) unit = 1 << 10;
  if (absl::ConsumeSuffix(&text, "M")) unit = 1 << 20;
  int64_t size = 0;
  return absl::SimpleAtoi(text, &size) ? size * unit : 0;
}

// Reads the caches of the first processor; unknown sizes keep their default.
void ReadCaches(loops::Machine& machine) {
  for (int i = 0;; ++i) {
    const std::string folder =
        absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", i, "/");
    const std::string level = FirstLine(folder + "level");
    if (level.empty()) return;
    const int64_t bytes = ParseSize(FirstLine(folder + "size"));
    if (FirstLine(folder + "type") == "Instruction" || bytes == 0) continue;
    if (level == "1") machine.l1_bytes = bytes;
    if (level == "2") machine.l2_bytes = bytes;
    if (level == "3") machine.l3_bytes = bytes;
    int64_t line = 0;
    if (absl::SimpleAtoi(FirstLine(folder + "coherency_line_size"), &line)) {
      machine.cache_line_bytes = line;
    }
  }
}

int32_t UsableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

HostCpu Detect() {
  HostCpu host;
  host.name = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  const llvm::StringMap<bool> known = llvm::sys::getHostCPUFeatures();
  for (const auto& feature : known) {
    features.push_back(
        absl::StrCat(feature.second ? "+" : "-", feature.first().str()));
  }
  // Sorted, since the map is unordered and the string is part of cache keys.
  std::sort(features.begin(), features.end(),
            [](const std::string& a, const std::string& b) {
              return a.compare(1, a.npos, b, 1, b.npos) < 0;
            });
  host.features = absl::StrJoin(features, ",");
  if (auto limited = LimitFeatures(host.features, IsaVariable());
      limited.ok()) {
    host.features = *std::move(limited);
  }
  host.model = ProcessorModel();
  host.machine.vector_bytes = VectorBytes(host.features);
  host.machine.vector_registers = host.machine.vector_bytes == 64 ? 32 : 16;
  host.machine.threads = UsableProcessors();
  host.machine.has_bf16_dot = HasBf16Dot(host.features);
  host.machine.has_integer_dot = HasIntegerDot(host.features);
  ReadCaches(host.machine);
  return host;
}

KernelDevice DescribeHost() {
  const HostCpu& host = DetectHost();
  const loops::Machine& machine = host.machine;
  KernelDevice device;
  device.kind = "cpu";
  device.model = host.model;
  device.isa = absl::StrCat(host.name, " ", host.features);
  device.machine = machine;
  const std::string identity = absl::StrJoin(
      {std::string(HONE_VERSION), std::string(LLVM_VERSION_STRING),
       device.model, device.isa,
       absl::StrCat(machine.threads, " ", machine.l1_bytes, " ",
                    machine.l2_bytes, " ", machine.l3_bytes, " ",
                    machine.cache_line_bytes, " ", machine.vector_bytes, " ",
                    machine.vector_registers)},
      "\n");
  device.fingerprint =
      absl::StrCat(device.kind, ":", Sha256Hex(identity).substr(0, 16));
  return device;
}

}  // namespace

absl::StatusOr<std::string> LimitFeatures(absl::string_view features,
                                          absl::string_view isa) {
  HONE_RETURN_IF_ERROR(CheckIsa(isa));
  if (isa != "avx2") return std::string(features);
  const auto is_newer = [](absl::string_view name) {
    return (absl::StartsWith(name, "avx") && name != "avx" && name != "avx2") ||
           absl::StartsWith(name, "amx") || name == "evex512";
  };
  std::vector<std::string> limited;
  for (absl::string_view feature : absl::StrSplit(features, ',')) {
    const absl::string_view name = feature.substr(1);
    limited.push_back(is_newer(name) ? absl::StrCat("-", name)
                                     : std::string(feature));
  }
  return absl::StrJoin(limited, ",");
}

int64_t VectorBytes(absl::string_view features) {
  if (absl::StrContains(features, "+avx512f")) return 64;
  return absl::StrContains(features, "+avx") ? 32 : 16;
}

bool HasBf16Dot(absl::string_view features) {
  return absl::StrContains(features, "+avx512bf16") &&
         absl::StrContains(features, "+avx512vl");
}

bool HasIntegerDot(absl::string_view features) {
  return absl::StrContains(features, "+avxvnni,") ||
         absl::EndsWith(features, "+avxvnni") ||
         (absl::StrContains(features, "+avx512vnni") &&
          absl::StrContains(features, "+avx512vl"));
}

const HostCpu& DetectHost() {
  static const auto* const host = new HostCpu(Detect());
  return *host;
}

const KernelDevice& HostDevice() {
  static const auto* const device = new KernelDevice(DescribeHost());
  return *device;
}

}  // namespace hone::backends

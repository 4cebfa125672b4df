#include "costmodels/xla_cpu_work.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "costmodels/xla_cpu_rules.h"

namespace hone::costmodels {
namespace {

constexpr double kLineBytes = 64;
// Lines touched by strided reads stay in the first-level cache up to this.
constexpr double kFirstLevelBytes = 24 * 1024;
// So few of them stay near whatever else happens.
constexpr double kFewLineBytes = 4 * 1024;
// Sets of the first two levels of cache, of kWays lines each.
constexpr int64_t kFirstLevelSets = 64;
constexpr int64_t kSecondLevelSets = 1024;
constexpr double kWays = 8;
constexpr double kPageBytes = 4096;
// Pages whose addresses a core knows at once.
constexpr double kNearPages = 512;

// Returns true if a cache cannot hold the lines: some sets are never used if
// the lines' distance shares factors with the number of sets.
bool Overflows(const StridedAccess& access, int64_t sets) {
  const auto distance = static_cast<int64_t>(access.distance / kLineBytes);
  const int64_t used = sets / std::gcd(sets, std::max<int64_t>(distance, 1));
  return access.lines > kWays * static_cast<double>(used);
}

double LineBytes(const StridedAccess& access) {
  return std::min(access.lines * kLineBytes, access.array_bytes);
}

double Pages(const StridedAccess& access) {
  const double share = std::clamp(access.distance, kLineBytes, kPageBytes);
  return std::min(access.lines * share, access.array_bytes) / kPageBytes;
}

void AddStrided(const std::vector<StridedAccess>& accesses,
                XlaCpuFeatures& features) {
  // All of them share the caches.
  double bytes = 0;
  double pages = 0;
  for (const StridedAccess& access : accesses) {
    bytes += LineBytes(access);
    pages += Pages(access);
  }
  for (const StridedAccess& access : accesses) {
    const double count = access.count;
    features[kStridedReads] += count;
    if (access.array_bytes > kSharedBytes) features[kColdStridedReads] += count;
    if (pages > kNearPages) features[kFarPageReads] += count;
    if (LineBytes(access) < kFewLineBytes) continue;
    if (bytes > kFirstLevelBytes || Overflows(access, kFirstLevelSets)) {
      features[kFarStridedReads] += count;
    }
    if (bytes > kNearBytes || Overflows(access, kSecondLevelSets)) {
      features[kMemoryStridedReads] += count;
    }
  }
}

}  // namespace

void LoopWork::AddBytes(double array_bytes) {
  bytes += array_bytes;
  if (array_bytes > kNearBytes) far_bytes += array_bytes;
  if (array_bytes > kSharedBytes) memory_bytes += array_bytes;
}

void AddFeatures(const LoopWork& work, XlaCpuFeatures& features) {
  features[kKernels] += 1;
  features[kRows] += work.rows;
  features[kFarBytes] += work.far_bytes;
  features[kMemoryBytes] += work.memory_bytes;
  features[kLoopReduced] += work.reduced;
  features[kLoopReducedStrided] += work.reduced_strided;
  features[kGathered] += work.gathered;
  features[kSlowFunctions] += work.slow_functions;
  const bool vectorizes = work.strided.empty() && work.branches == 0 &&
                          work.gathered == 0 && work.reduced == 0 &&
                          work.reduced_strided == 0;
  if (vectorizes) {
    features[kVectorBytes] += work.bytes;
    features[kVectorFlops] += work.flops;
    features[kVectorDivisions] += work.divisions;
    features[kVectorFunctions] += work.functions;
    return;
  }
  features[kScalarElements] += work.elements;
  features[kScalarFlops] += work.flops;
  features[kScalarDivisions] += work.divisions;
  features[kScalarFunctions] += work.functions;
  features[kBranches] += work.branches;
  AddStrided(work.strided, features);
}

}  // namespace hone::costmodels

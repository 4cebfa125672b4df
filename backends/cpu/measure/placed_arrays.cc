#include "backends/cpu/measure/placed_arrays.h"

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <sys/mman.h>

namespace hone::backends {
namespace {

constexpr size_t kBoundary = size_t{2} << 20;
constexpr size_t kLine = 64;
constexpr size_t kStagger = 17 * kLine;
// Scattered arrays start within so many bytes: all sets of an L2 cache.
constexpr size_t kScatter = size_t{1} << 17;

size_t RoundUp(size_t bytes) {
  return (bytes + kBoundary - 1) / kBoundary * kBoundary;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PlacedArrays>> PlacedArrays::Create(
    absl::Span<const int64_t> bytes, size_t before) {
  std::vector<size_t> offsets(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    offsets[i] = (before + i) * kStagger;
  }
  return Map(bytes, offsets, MADV_HUGEPAGE);
}

absl::StatusOr<std::unique_ptr<PlacedArrays>> PlacedArrays::Scatter(
    absl::Span<const int64_t> bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<size_t> line(0, kScatter / kLine - 1);
  std::vector<size_t> offsets(bytes.size());
  for (size_t& offset : offsets) offset = kLine * line(random);
  return Map(bytes, offsets, MADV_NOHUGEPAGE);
}

absl::StatusOr<std::unique_ptr<PlacedArrays>> PlacedArrays::Map(
    absl::Span<const int64_t> bytes, absl::Span<const size_t> offsets,
    int advice) {
  size_t mapped_bytes = kBoundary;
  for (size_t i = 0; i < bytes.size(); ++i) {
    mapped_bytes += RoundUp(static_cast<size_t>(bytes[i]) + offsets[i]);
  }
  void* const mapping =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no ", mapped_bytes,
        " bytes for arrays: ", std::generic_category().message(errno)));
  }
  auto* const start = static_cast<std::byte*>(mapping);
  std::byte* next =
      start + (kBoundary - reinterpret_cast<uintptr_t>(start) % kBoundary);
  std::vector<std::byte*> arrays;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t extent = RoundUp(static_cast<size_t>(bytes[i]) + offsets[i]);
    // A hint only: without huge pages it has no effect.
    if (static_cast<size_t>(bytes[i]) >= kBoundary) {
      madvise(next, extent, advice);
    }
    arrays.push_back(next + offsets[i]);
    next += extent;
  }
  return std::unique_ptr<PlacedArrays>(
      new PlacedArrays(start, mapped_bytes, std::move(arrays)));
}

PlacedArrays::PlacedArrays(std::byte* mapping, size_t mapped_bytes,
                           std::vector<std::byte*> arrays)
    : mapping_(mapping),
      mapped_bytes_(mapped_bytes),
      arrays_(std::move(arrays)) {}

PlacedArrays::~PlacedArrays() { munmap(mapping_, mapped_bytes_); }

}  // namespace hone::backends

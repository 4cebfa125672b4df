#include "hlo/equivalence/literal_scan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace hone::hlo {
namespace {

// Elements or bytes worth handing to another thread.
constexpr int64_t kPiece = int64_t{1} << 20;

FloatCounts Count(const Literal& literal, int64_t begin, int64_t end) {
  FloatCounts counts;
  if (literal.shape().element_type() == ElementType::kF32) {
    const uint32_t* const bits =
        reinterpret_cast<const uint32_t*>(literal.data());
    constexpr uint32_t kInfinity = 0x7f800000;
    // Counters as wide as the numbers, for vectors.
    constexpr int64_t kBlock = 4096;
    for (int64_t i = begin; i < end; i += kBlock) {
      uint32_t nan = 0;
      uint32_t non_finite = 0;
      for (int64_t k = i; k < std::min(i + kBlock, end); ++k) {
        const uint32_t magnitude = bits[k] & 0x7fffffff;
        nan += magnitude > kInfinity ? 1 : 0;
        non_finite += magnitude >= kInfinity ? 1 : 0;
      }
      counts.nan += nan;
      counts.non_finite += non_finite;
    }
    return counts;
  }
  for (int64_t i = begin; i < end; ++i) {
    const double x = literal.AsDouble(i);
    counts.nan += std::isnan(x) ? 1 : 0;
    counts.non_finite += std::isfinite(x) ? 0 : 1;
  }
  return counts;
}

bool HasSameNumbers(const Literal& a, const Literal& b, int64_t begin,
                    int64_t end) {
  const int64_t width = ByteWidth(a.shape().element_type());
  // The bits of most arrays are equal, or differ early.
  constexpr int64_t kBlock = 4096;
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t block_end = std::min(i + kBlock, end);
    if (std::memcmp(a.data() + i * width, b.data() + i * width,
                    static_cast<size_t>((block_end - i) * width)) == 0) {
      continue;
    }
    for (int64_t k = i; k < block_end; ++k) {
      const double x = a.AsDouble(k);
      const double y = b.AsDouble(k);
      if (!(x == y || (std::isnan(x) && std::isnan(y)))) return false;
    }
  }
  return true;
}

}  // namespace

void FloatCounts::Add(const Literal& literal, ThreadPool* pool) {
  for (const Literal& element : literal.elements()) Add(element, pool);
  if (!IsFloat(literal.shape().element_type())) return;
  absl::Mutex mu;
  const auto count = [&](int64_t begin, int64_t end) {
    const FloatCounts piece = Count(literal, begin, end);
    absl::MutexLock lock(&mu);
    nan += piece.nan;
    non_finite += piece.non_finite;
  };
  const int64_t n = literal.num_elements();
  floats += n;
  if (pool == nullptr || n <= kPiece) return count(0, n);
  pool->ParallelFor(n, kPiece, count);
}

int64_t FloatsOf(const Shape& shape) {
  if (!shape.IsTuple()) {
    return IsFloat(shape.element_type()) ? shape.num_elements() : 0;
  }
  int64_t floats = 0;
  for (const ShapePtr& element : shape.tuple_elements()) {
    floats += FloatsOf(*element);
  }
  return floats;
}

bool HaveSameNumbers(const Literal& a, const Literal& b, ThreadPool* pool) {
  const Shape& shape = a.shape();
  if (shape.IsTuple()) {
    for (size_t i = 0; i < a.elements().size(); ++i) {
      if (!HaveSameNumbers(a.elements()[i], b.elements()[i], pool)) {
        return false;
      }
    }
    return true;
  }
  if (!shape.IsArray() || !IsFloat(shape.element_type())) return a == b;
  std::atomic<bool> same = true;
  const auto compare = [&](int64_t begin, int64_t end) {
    if (!same || HasSameNumbers(a, b, begin, end)) return;
    same = false;
  };
  const int64_t n = a.num_elements();
  if (pool == nullptr || n <= kPiece) {
    compare(0, n);
  } else {
    pool->ParallelFor(n, kPiece, compare);
  }
  return same;
}

Hash128 HashArray(const Literal& array, ThreadPool* pool) {
  const auto bytes = [&](int64_t begin, int64_t end) {
    return FastHash(
        absl::string_view(reinterpret_cast<const char*>(array.data()) + begin,
                          static_cast<size_t>(end - begin)));
  };
  const int64_t size = array.byte_size();
  const int64_t pieces = (size + kPiece - 1) / kPiece;
  std::vector<Hash128> hashes(static_cast<size_t>(pieces));
  const auto hash = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      hashes[static_cast<size_t>(i)] =
          bytes(i * kPiece, std::min((i + 1) * kPiece, size));
    }
  };
  if (pool == nullptr || pieces <= 1) {
    hash(0, pieces);
  } else {
    pool->ParallelFor(pieces, 1, hash);
  }
  std::string all = array.shape().ToString(/*layouts=*/true);
  for (const Hash128& piece : hashes) {
    absl::StrAppend(&all, " ", piece.low, " ", piece.high);
  }
  return FastHash(all);
}

}  // namespace hone::hlo

#include "hlo/equivalence/float_judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "hlo/equivalence/errors_by_magnitude.h"
#include "hlo/equivalence/internal.h"
#include "hlo/ir/float_formats.h"

namespace hone::hlo {
namespace {

// Numbers that are judged together: neighbours in memory.
constexpr int64_t kBlock = 1024;
// An own error above this part of an element leaves nothing of it.
constexpr double kOwnErrorCap = 0x1p-4;
// The mathematics agrees beyond the own error: to this part of it.
constexpr double kStrict = 0x1p-16;
// The mathematics is the same but for the rounding of constants.
constexpr double kSame = 0x1p-20;

// How finely a type resolves numbers.
struct Precision {
  double tolerance = 0;  // relative error that needs no excuse
  double meaning = 0;    // likewise, in double precision
  double smallest = 0;   // differences below are none
  double largest = std::numeric_limits<double>::infinity();
};

Precision PrecisionOf(ElementType type) {
  constexpr double kSmallestF32 = std::numeric_limits<float>::min();
  constexpr double kLargestF32 = std::numeric_limits<float>::max();
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return {0x1p-48, 0x1p-48, std::numeric_limits<double>::min(),
              std::numeric_limits<double>::max()};
    case ElementType::kF32:
    case ElementType::kC64:
      return {0x1p-19, 0x1p-19, kSmallestF32, kLargestF32};
    case ElementType::kBf16:
      return {0x1p-6, 0x1p-8, kSmallestF32, kLargestF32};
    case ElementType::kF16:
      return {0x1p-9, 0x1p-11, 0x1p-23, 65504};
    default: {
      const double step = std::ldexp(1, -MantissaBits(type));
      return {2 * step, step / 2, 2.0 * MiniFloatToFloat(type, 1),
              std::numeric_limits<double>::infinity()};
    }
  }
}

int PartsOf(ElementType type) { return IsComplex(type) ? 2 : 1; }

// Copies numbers [begin, begin + out.size()) of the array, real and imaginary
// parts one by one.
void Load(const Literal& array, int64_t begin, absl::Span<double> out) {
  const auto copy = [&](const auto* data) {
    std::copy_n(data + begin, out.size(), out.begin());
  };
  switch (array.shape().element_type()) {
    case ElementType::kF32:
    case ElementType::kC64:
      return copy(reinterpret_cast<const float*>(array.data()));
    case ElementType::kF64:
    case ElementType::kC128:
      return copy(reinterpret_cast<const double*>(array.data()));
    default:
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = array.AsDouble(begin + static_cast<int64_t>(i));
      }
  }
}

// Raises an error to another, if that is a number and the larger one.
void Raise(double& error, double other) {
  error = other > error || (std::isnan(error) && !std::isnan(other)) ? other
                                                                     : error;
}

// The judgment of some numbers of an array.
struct FloatsVerdict {
  // Adds that of others. Of equally wrong numbers the first is the worst.
  void Add(FloatsVerdict other) {
    ArrayVerdict& from = other.verdict;
    verdict.unverifiable += from.unverifiable;
    verdict.wrong += from.wrong;
    verdict.wrong_by_rounding += from.wrong_by_rounding;
    verdict.is_beyond_rounding |= from.is_beyond_rounding;
    verdict.max_rel_error = std::max(verdict.max_rel_error, from.max_rel_error);
    if (from.wrong == 0 || other.severity < severity ||
        (other.severity == severity && other.worst_number > worst_number)) {
      return;
    }
    severity = other.severity;
    worst_number = other.worst_number;
    verdict.worst = std::move(from.worst);
  }

  ArrayVerdict verdict;
  double severity = -1;
  int64_t worst_number = 0;
};

// Judges an array of floating-point numbers, block by block.
class FloatJudge {
 public:
  // `array` is of the whole array; null while it is not known.
  FloatJudge(const Evidence& e, const ErrorsByMagnitude* array)
      : e_(e),
        array_(array),
        type_(e.original.shape().element_type()),
        parts_(PartsOf(type_)),
        is_double_(type_ == ElementType::kF64 || type_ == ElementType::kC128),
        precision_(PrecisionOf(type_)),
        numbers_(e.original.num_elements() * parts_) {}

  // Judges the block of numbers that begins with `begin`. Returns false, and
  // judges nothing, where that takes what is known of the whole array.
  bool JudgeBlock(int64_t begin) {
    if (HasEqualBits(begin)) return true;
    LoadBlock(begin);
    FloatsVerdict before = judged_;
    for (size_t i = 0; i < size_; ++i) {
      JudgeNumber(begin + static_cast<int64_t>(i), i);
      if (!lacks_array_) continue;
      lacks_array_ = false;
      judged_ = std::move(before);
      return false;
    }
    return true;
  }

  // Adds the errors of a block.
  void AddErrors(int64_t begin, ErrorsByMagnitude& errors) {
    LoadBlock(begin);
    FindOwnErrors(begin);
    errors.Add(block_);
  }

  int64_t numbers() const { return numbers_; }
  FloatsVerdict Take() { return std::move(judged_); }

 private:
  using Block = std::array<double, static_cast<size_t>(kBlock)>;

  // Equal bits need no excuse.
  bool HasEqualBits(int64_t begin) const {
    const int64_t width = ByteWidth(type_) / parts_;
    const int64_t size = std::min(kBlock, numbers_ - begin);
    return std::memcmp(e_.original.data() + begin * width,
                       e_.rewritten.data() + begin * width,
                       static_cast<size_t>(size * width)) == 0;
  }

  void LoadBlock(int64_t begin) {
    size_ = static_cast<size_t>(std::min(kBlock, numbers_ - begin));
    Load(e_.original, begin, absl::MakeSpan(original_.data(), size_));
    Load(e_.truth, begin, absl::MakeSpan(truth_.data(), size_));
    Load(e_.rewritten, begin, absl::MakeSpan(rewritten_.data(), size_));
    Load(e_.rewritten_truth, begin,
         absl::MakeSpan(rewritten_truth_.data(), size_));
    has_errors_ = false;
    has_noise_ = false;
  }

  // The truth's magnitude, of a complex number that of both parts.
  double Magnitude(size_t i) const {
    if (parts_ == 1) return std::fabs(truth_[i]);
    return std::hypot(truth_[i & ~size_t{1}], truth_[i | 1]);
  }

  // The error of the original, by the truth and by how far other rounding moves
  // it.
  void FindOwnErrors(int64_t begin) {
    if (has_errors_) return;
    has_errors_ = true;
    for (size_t i = 0; i < size_; ++i) {
      own_error_[i] = std::fabs(original_[i] - truth_[i]);
    }
    Block moved;
    for (const Literal& sample : e_.moved) {
      Load(sample, begin, absl::MakeSpan(moved.data(), size_));
      for (size_t i = 0; i < size_; ++i) {
        Raise(own_error_[i], std::fabs(moved[i] - original_[i]));
      }
    }
    block_.Clear();
    for (size_t i = 0; i < size_; ++i) {
      const double difference = std::fabs(rewritten_truth_[i] - truth_[i]);
      if (!std::isfinite(own_error_[i]) || !std::isfinite(difference)) continue;
      block_.Add(Magnitude(i), own_error_[i], difference);
    }
  }

  // The errors of numbers of like magnitude: those in the block, or in the
  // whole array where the block has few.
  const ErrorsByMagnitude& KnownNear(double magnitude) {
    if (block_.CountNear(magnitude) >= kMinNeighbours) return block_;
    if (array_ != nullptr) return *array_;
    lacks_array_ = true;
    return block_;
  }

  // The own error of number `i` of the block, smoothed.
  double OwnError(int64_t begin, size_t i) {
    FindOwnErrors(begin);
    const double magnitude = Magnitude(i);
    const double smooth = KnownNear(magnitude).ErrorNear(magnitude);
    return std::isfinite(own_error_[i]) ? std::max(own_error_[i], smooth)
                                        : smooth;
  }

  // How far other rounding moves number `i` of the rewritten module, smoothed;
  // 0 if that was not tried.
  double RewrittenNoise(int64_t begin, size_t i) {
    if (!has_noise_) {
      has_noise_ = true;
      noise_.fill(0);
      block_noise_.Clear();
      Block moved;
      for (const Literal& sample : e_.moved_rewritten) {
        Load(sample, begin, absl::MakeSpan(moved.data(), size_));
        for (size_t k = 0; k < size_; ++k) {
          Raise(noise_[k], std::fabs(moved[k] - rewritten_[k]));
        }
      }
      for (size_t k = 0; k < size_; ++k) {
        if (std::isfinite(noise_[k])) block_noise_.Add(Magnitude(k), noise_[k]);
      }
    }
    const double smooth = block_noise_.ErrorNear(Magnitude(i));
    return std::isfinite(noise_[i]) ? std::max(noise_[i], smooth) : smooth;
  }

  void JudgeNumber(int64_t number, size_t i) {
    const double a = original_[i];
    const double b = rewritten_[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) return;
    const double t = truth_[i];
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(t)) {
      return JudgeNonFinite(number, a, b, t);
    }
    const double magnitude = Magnitude(i);
    const double error = std::fabs(b - t);
    const double free =
        std::max(precision_.tolerance * magnitude, precision_.smallest);
    // In double precision there is only the rounding of constants.
    const double difference = std::fabs(rewritten_truth_[i] - t);
    if (error <= free && difference <= std::max(precision_.meaning * magnitude,
                                                precision_.smallest)) {
      return Accept(error, magnitude);
    }
    const int64_t begin = number - static_cast<int64_t>(i);
    const double own = OwnError(begin, i);
    if (error > std::max(free, kErrorFactor * own)) {
      if (!e_.judges_rounding && MeansTheSame(i, own)) {
        ++judged_.verdict.unverifiable;
        return;
      }
      const double noise = RewrittenNoise(begin, i);
      // Double precision rounds the rewritten one as its own type does: where
      // that is the worse one, `difference` is its rounding.
      if (difference <= std::max(kSame * magnitude, kStrict * own) ||
          (difference <= kStrict * noise && MeansTheSame(i, own))) {
        if (error <= kErrorFactor * noise) {
          ++judged_.verdict.unverifiable;
          return;
        }
        ++judged_.verdict.wrong_by_rounding;
      }
      return Refuse(number, error / std::max(free, kErrorFactor * own), b);
    }
    if (!MeansTheSame(i, own)) {
      return Refuse(number, difference / std::max(free, own),
                    rewritten_truth_[i]);
    }
    if (own > kOwnErrorCap * magnitude &&
        difference > std::max(kStrict * own, precision_.smallest)) {
      ++judged_.verdict.unverifiable;
      return;
    }
    Accept(own > kOwnErrorCap * magnitude ? 0 : error, magnitude);
  }

  // The second rule, of number `i` of the block, whose own error is `own`.
  bool MeansTheSame(size_t i, double own) {
    const double difference = std::fabs(rewritten_truth_[i] - truth_[i]);
    const double magnitude = Magnitude(i);
    const double free = precision_.meaning * magnitude;
    // What the rewritten module means may be what the original makes of it, by
    // roundings that were folded into constants.
    if (difference <= std::max(free + own, precision_.smallest) ||
        std::fabs(rewritten_truth_[i] - original_[i]) <=
            std::max(free, precision_.smallest)) {
      return true;
    }
    if (!(difference <= kErrorFactor * own)) return false;
    // Where the type is f64, it is the truth's own rounding.
    if (is_double_) return true;
    const ErrorsByMagnitude& known = KnownNear(magnitude);
    return known.DifferenceNear(magnitude) <= known.ErrorNear(magnitude);
  }

  // One of the original, the rewritten and the truth is no finite number; the
  // original and the rewritten are not the same.
  void JudgeNonFinite(int64_t number, double a, double b, double t) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (std::isfinite(a) && !std::isfinite(b)) {
      // Where it is, an overflow is a matter of rounding.
      const bool overflows = std::fabs(a) >= 0.99 * precision_.largest &&
                             std::isinf(b) && (b > 0) == (a > 0);
      if (overflows) {
        ++judged_.verdict.unverifiable;
        return;
      }
      judged_.verdict.is_beyond_rounding = true;
      return Refuse(number, kInfinity, b);
    }
    if (std::isfinite(a)) {
      // Only double precision fails: what is left is the original.
      if (std::fabs(b - a) > kErrorFactor * precision_.tolerance * std::fabs(a))
        ++judged_.verdict.unverifiable;
      return;
    }
    // The original failed. Its order of operations may be why, if the truth is
    // finite. Whether infinities make infinity or NaN is rounding, too.
    const bool is_nan_for_infinity =
        !std::isfinite(b) && std::isnan(a) != std::isnan(b);
    if (!std::isfinite(t) && (e_.judges_rounding || !is_nan_for_infinity)) {
      return Refuse(number, kInfinity, b);
    }
    ++judged_.verdict.unverifiable;
  }

  void Accept(double error, double magnitude) {
    if (magnitude == 0 || error <= precision_.smallest) return;
    judged_.verdict.max_rel_error =
        std::max(judged_.verdict.max_rel_error, error / magnitude);
  }

  void Refuse(int64_t number, double severity, double became) {
    ++judged_.verdict.wrong;
    if (severity <= judged_.severity) return;
    judged_.severity = severity;
    judged_.worst_number = number;
    const int64_t element = number / parts_;
    const auto at = static_cast<size_t>(number % kBlock);
    judged_.verdict.worst = {"", ElementName(e_.original.shape(), element),
                             original_[at], became, truth_[at]};
  }

  const Evidence& e_;
  const ErrorsByMagnitude* const array_;
  bool lacks_array_ = false;
  const ElementType type_;
  const int parts_;
  const bool is_double_;
  const Precision precision_;
  const int64_t numbers_;
  FloatsVerdict judged_;
  // The block at hand.
  size_t size_ = 0;
  Block original_, truth_, rewritten_, rewritten_truth_;
  bool has_errors_ = false;
  Block own_error_;
  ErrorsByMagnitude block_;
  bool has_noise_ = false;
  Block noise_;
  ErrorsByMagnitude block_noise_;
};

// Calls body(begin, end) over a partition of [0, n) in pieces of at least
// `grain`, on the pool's threads if there is one.
void InPieces(int64_t n, int64_t grain, ThreadPool* pool,
              const std::function<void(int64_t, int64_t)>& body) {
  if (pool == nullptr || n <= grain) return body(0, n);
  pool->ParallelFor(n, grain, body);
}

// The errors of all blocks, by sums whose order does not depend on threads.
ErrorsByMagnitude FindErrors(const Evidence& e, int64_t blocks,
                             ThreadPool* pool) {
  constexpr int64_t kBlocks = 256;
  std::vector<ErrorsByMagnitude> parts(
      static_cast<size_t>((blocks + kBlocks - 1) / kBlocks));
  InPieces(static_cast<int64_t>(parts.size()), 1, pool,
           [&](int64_t begin, int64_t end) {
             FloatJudge judge(e, nullptr);
             for (int64_t block = begin * kBlocks;
                  block < std::min(end * kBlocks, blocks); ++block) {
               judge.AddErrors(block * kBlock,
                               parts[static_cast<size_t>(block / kBlocks)]);
             }
           });
  ErrorsByMagnitude all;
  for (const ErrorsByMagnitude& part : parts) all.Add(part);
  return all;
}

}  // namespace

ArrayVerdict JudgeFloats(const Evidence& e, ThreadPool* pool) {
  // Blocks worth handing to another thread.
  constexpr int64_t kGrain = 64;
  // First the blocks that know enough, then the others beside the whole array.
  const int64_t blocks =
      (FloatJudge(e, nullptr).numbers() + kBlock - 1) / kBlock;
  absl::Mutex mu;
  FloatsVerdict all;
  std::vector<int64_t> open;
  InPieces(blocks, kGrain, pool, [&](int64_t begin, int64_t end) {
    FloatJudge piece(e, nullptr);
    std::vector<int64_t> left;
    for (int64_t block = begin; block < end; ++block) {
      if (!piece.JudgeBlock(block * kBlock)) left.push_back(block);
    }
    absl::MutexLock lock(&mu);
    all.Add(piece.Take());
    open.insert(open.end(), left.begin(), left.end());
  });
  if (!open.empty()) {
    const ErrorsByMagnitude array = FindErrors(e, blocks, pool);
    InPieces(static_cast<int64_t>(open.size()), kGrain, pool,
             [&](int64_t begin, int64_t end) {
               FloatJudge piece(e, &array);
               for (int64_t i = begin; i < end; ++i) {
                 piece.JudgeBlock(open[static_cast<size_t>(i)] * kBlock);
               }
               absl::MutexLock lock(&mu);
               all.Add(piece.Take());
             });
  }
  all.verdict.elements =
      e.original.num_elements() * PartsOf(e.original.shape().element_type());
  return std::move(all.verdict);
}

}  // namespace hone::hlo

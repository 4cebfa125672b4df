#include "hlo/equivalence/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "hlo/equivalence/errors_by_magnitude.h"
#include "hlo/equivalence/internal.h"
#include "hlo/ir/float_formats.h"

namespace hone::hlo {
namespace {

// Numbers that are judged together: neighbours in memory.
constexpr int64_t kBlock = 1024;
// The own error of an element is compared with this many of its neighbours of
// like magnitude at least; with those of the whole array where a block has
// fewer.
constexpr int64_t kMinNeighbours = 16;
// The error of a rewrite relative to the original's own.
constexpr double kErrorFactor = 8;
// An own error above this part of an element leaves nothing of it.
constexpr double kOwnErrorCap = 0x1p-4;
// The mathematics agrees beyond the own error: to this part of it.
constexpr double kStrict = 0x1p-16;
// The mathematics is the same but for the rounding of constants.
constexpr double kSame = 0x1p-20;

// Of so many elements one may lie so near to a jump of the function, or to
// where all digits cancel, that a few runs with other rounding do not show it.
constexpr int64_t kElementsPerJump = 10'000;

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

// What is known of the errors of a whole array. It is found where a block knows
// too little, once for all pieces that threads judge.
struct ArrayErrors {
  absl::once_flag once;
  ErrorsByMagnitude errors;
  ErrorsByMagnitude differences;
};

// One array of floating-point numbers.
class FloatJudge {
 public:
  FloatJudge(const Evidence& e, ArrayErrors& array)
      : e_(e),
        array_(array),
        type_(e.original.shape().element_type()),
        parts_(PartsOf(type_)),
        is_double_(type_ == ElementType::kF64 || type_ == ElementType::kC128),
        precision_(PrecisionOf(type_)),
        numbers_(e.original.num_elements() * parts_) {}

  // Judges numbers [begin, end); `begin` is the first of a block.
  ArrayVerdict Run(int64_t begin, int64_t end) {
    for (; begin < end; begin += kBlock) {
      if (HasEqualBits(begin)) continue;
      LoadBlock(begin);
      for (size_t i = 0; i < size_; ++i) {
        JudgeNumber(begin + static_cast<int64_t>(i), i);
      }
    }
    return std::move(verdict_);
  }
  int64_t numbers() const { return numbers_; }
  double severity() const { return severity_; }

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
    if (e_.moved.empty()) return;
    FindOwnErrors(begin);
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
        own_error_[i] =
            std::fmax(own_error_[i], std::fabs(moved[i] - original_[i]));
      }
    }
    block_errors_.Clear();
    block_differences_.Clear();
    AddErrors(block_errors_, block_differences_);
  }

  // Adds the own errors, and what the two mean in double precision differs by.
  void AddErrors(ErrorsByMagnitude& errors,
                 ErrorsByMagnitude& differences) const {
    for (size_t i = 0; i < size_; ++i) {
      const double difference = std::fabs(rewritten_truth_[i] - truth_[i]);
      if (!std::isfinite(own_error_[i]) || !std::isfinite(difference)) continue;
      errors.Add(Magnitude(i), own_error_[i]);
      differences.Add(Magnitude(i), difference);
    }
  }

  // What is known of the numbers of like magnitude in the block, or where these
  // are few, in the array.
  const ErrorsByMagnitude& ErrorsNear(double magnitude) {
    if (block_errors_.CountNear(magnitude) >= kMinNeighbours) {
      return block_errors_;
    }
    FindArrayErrors();
    return array_.errors;
  }
  const ErrorsByMagnitude& DifferencesNear(double magnitude) {
    return &ErrorsNear(magnitude) == &block_errors_ ? block_differences_
                                                    : array_.differences;
  }

  // The own error of number `i` of the block, smoothed.
  double OwnError(int64_t begin, size_t i) {
    FindOwnErrors(begin);
    const double magnitude = Magnitude(i);
    const double smooth = ErrorsNear(magnitude).RmsNear(magnitude);
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
          noise_[k] = std::fmax(noise_[k], std::fabs(moved[k] - rewritten_[k]));
        }
      }
      for (size_t k = 0; k < size_; ++k) {
        if (std::isfinite(noise_[k])) block_noise_.Add(Magnitude(k), noise_[k]);
      }
    }
    const double smooth = block_noise_.RmsNear(Magnitude(i));
    return std::isfinite(noise_[i]) ? std::max(noise_[i], smooth) : smooth;
  }

  void FindArrayErrors() {
    absl::call_once(array_.once, [&] {
      FloatJudge block(e_, array_);
      for (int64_t begin = 0; begin < numbers_; begin += kBlock) {
        block.LoadBlock(begin);
        block.FindOwnErrors(begin);
        block.AddErrors(array_.errors, array_.differences);
      }
    });
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
        ++verdict_.unverifiable;
        return;
      }
      if (difference <= std::max(kSame * magnitude, kStrict * own)) {
        if (error <= kErrorFactor * RewrittenNoise(begin, i)) {
          ++verdict_.unverifiable;
          return;
        }
        ++verdict_.wrong_by_rounding;
      }
      return Refuse(number, error / std::max(free, kErrorFactor * own), b);
    }
    if (!MeansTheSame(i, own)) {
      return Refuse(number, difference / std::max(free, own),
                    rewritten_truth_[i]);
    }
    if (own > kOwnErrorCap * magnitude &&
        difference > std::max(kStrict * own, precision_.smallest)) {
      ++verdict_.unverifiable;
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
    return DifferencesNear(magnitude).RmsNear(magnitude) <=
           ErrorsNear(magnitude).RmsNear(magnitude);
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
        ++verdict_.unverifiable;
        return;
      }
      verdict_.is_beyond_rounding = true;
      return Refuse(number, kInfinity, b);
    }
    if (std::isfinite(a)) {
      // Only double precision fails: what is left is the original.
      if (std::fabs(b - a) > kErrorFactor * precision_.tolerance * std::fabs(a))
        ++verdict_.unverifiable;
      return;
    }
    // The original failed. Its order of operations may be why, if the truth is
    // finite. Which of infinity and NaN comes of infinities is rounding, too.
    if (!std::isfinite(t) && (std::isfinite(b) || e_.judges_rounding))
      return Refuse(number, kInfinity, b);
    ++verdict_.unverifiable;
  }

  void Accept(double error, double magnitude) {
    if (magnitude == 0 || error <= precision_.smallest) return;
    verdict_.max_rel_error =
        std::max(verdict_.max_rel_error, error / magnitude);
  }

  void Refuse(int64_t number, double severity, double became) {
    ++verdict_.wrong;
    if (severity <= severity_) return;
    severity_ = severity;
    const int64_t element = number / parts_;
    const auto at = static_cast<size_t>(number % kBlock);
    verdict_.worst = {"", ElementName(e_.original.shape(), element),
                      original_[at], became, truth_[at]};
  }

  const Evidence& e_;
  ArrayErrors& array_;
  const ElementType type_;
  const int parts_;
  const bool is_double_;
  const Precision precision_;
  const int64_t numbers_;
  ArrayVerdict verdict_;
  double severity_ = -1;
  // The block at hand.
  size_t size_ = 0;
  Block original_, truth_, rewritten_, rewritten_truth_;
  bool has_errors_ = false;
  Block own_error_;
  ErrorsByMagnitude block_errors_;
  ErrorsByMagnitude block_differences_;
  bool has_noise_ = false;
  Block noise_;
  ErrorsByMagnitude block_noise_;
};

// Takes a few elements that only rounding makes wrong for undecided.
void ExcuseJumps(const Evidence& e, ArrayVerdict& verdict) {
  if (e.moved_rewritten.empty() || verdict.wrong > verdict.wrong_by_rounding ||
      verdict.wrong * kElementsPerJump > verdict.elements) {
    return;
  }
  verdict.unverifiable += verdict.wrong;
  verdict.wrong = 0;
}

// One array of floating-point numbers, in pieces.
ArrayVerdict JudgeFloats(const Evidence& e, ThreadPool* pool) {
  // Blocks worth handing to another thread.
  constexpr int64_t kGrain = 64;
  ArrayErrors array;
  ArrayVerdict all;
  double severity = -1;
  int64_t worst_begin = 0;
  absl::Mutex mu;
  const auto judge = [&](int64_t begin, int64_t end) {
    FloatJudge piece(e, array);
    ArrayVerdict verdict =
        piece.Run(begin * kBlock, std::min(end * kBlock, piece.numbers()));
    absl::MutexLock lock(&mu);
    all.unverifiable += verdict.unverifiable;
    all.wrong += verdict.wrong;
    all.wrong_by_rounding += verdict.wrong_by_rounding;
    all.is_beyond_rounding |= verdict.is_beyond_rounding;
    all.max_rel_error = std::max(all.max_rel_error, verdict.max_rel_error);
    // Of equally wrong elements the first, whichever thread finds it.
    if (verdict.wrong == 0 || piece.severity() < severity ||
        (piece.severity() == severity && begin > worst_begin)) {
      return;
    }
    severity = piece.severity();
    worst_begin = begin;
    all.worst = std::move(verdict.worst);
  };
  const int64_t blocks = (FloatJudge(e, array).numbers() + kBlock - 1) / kBlock;
  if (pool == nullptr || blocks <= kGrain) {
    judge(0, blocks);
  } else {
    pool->ParallelFor(blocks, kGrain, judge);
  }
  all.elements =
      e.original.num_elements() * PartsOf(e.original.shape().element_type());
  ExcuseJumps(e, all);
  return all;
}

// One array of integers or predicates.
ArrayVerdict JudgeExact(const Evidence& e) {
  ArrayVerdict verdict;
  verdict.elements = e.original.num_elements();
  if (e.original == e.rewritten) return verdict;
  for (int64_t i = 0; i < verdict.elements; ++i) {
    const int64_t a = e.original.AsInt(i);
    const int64_t b = e.rewritten.AsInt(i);
    if (a == b) continue;
    const int64_t t = e.truth.AsInt(i);
    // Floats decide it within their rounding if the original decides otherwise
    // than the truth, or with other rounding; double precision has to agree.
    const bool undecided = a != t || std::any_of(e.moved.begin(), e.moved.end(),
                                                 [&](const Literal& moved) {
                                                   return moved.AsInt(i) != a;
                                                 });
    if ((undecided || !e.judges_rounding) && e.rewritten_truth.AsInt(i) == t) {
      ++verdict.unverifiable;
      continue;
    }
    if (e.rewritten_truth.AsInt(i) == t) ++verdict.wrong_by_rounding;
    if (verdict.wrong++ > 0) continue;
    verdict.worst = {"", ElementName(e.original.shape(), i),
                     e.original.AsDouble(i), e.rewritten.AsDouble(i),
                     e.truth.AsDouble(i)};
  }
  ExcuseJumps(e, verdict);
  return verdict;
}

void Judge(const Evidence& e, const std::string& path, ThreadPool* pool,
           std::vector<ArrayVerdict>& verdicts) {
  const Shape& shape = e.original.shape();
  if (shape.IsTuple()) {
    for (size_t i = 0; i < e.original.elements().size(); ++i) {
      Evidence element{e.original.elements()[i],
                       e.truth.elements()[i],
                       e.rewritten.elements()[i],
                       e.rewritten_truth.elements()[i],
                       {},
                       {},
                       e.judges_rounding};
      for (const Literal& moved : e.moved) {
        element.moved.push_back(moved.elements()[i]);
      }
      for (const Literal& moved : e.moved_rewritten) {
        element.moved_rewritten.push_back(moved.elements()[i]);
      }
      Judge(element,
            path.empty() ? absl::StrCat(i) : absl::StrCat(path, ".", i), pool,
            verdicts);
    }
    return;
  }
  if (!shape.IsArray()) return;
  const ElementType type = shape.element_type();
  verdicts.push_back(IsFloat(type) || IsComplex(type) ? JudgeFloats(e, pool)
                                                      : JudgeExact(e));
  verdicts.back().worst.output = path;
}

}  // namespace

std::vector<ArrayVerdict> JudgeArrays(const Evidence& evidence,
                                      const std::string& path,
                                      ThreadPool* pool) {
  std::vector<ArrayVerdict> verdicts;
  Judge(evidence, path, pool, verdicts);
  return verdicts;
}

}  // namespace hone::hlo

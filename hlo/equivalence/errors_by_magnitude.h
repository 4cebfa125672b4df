#ifndef HONE_HLO_EQUIVALENCE_ERRORS_BY_MAGNITUDE_H_
#define HONE_HLO_EQUIVALENCE_ERRORS_BY_MAGNITUDE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hone::hlo {

// The error of a rewrite relative to the original's own.
inline constexpr double kErrorFactor = 8;
// The own error of an element is compared with this many of like magnitude at
// least; with those of the whole array where there are fewer.
inline constexpr int64_t kMinNeighbours = 16;

// Root mean squares of the errors of numbers, and of the differences between
// two ways to compute them, for each power of two of the magnitude.
class ErrorsByMagnitude {
 public:
  void Add(double magnitude, double error, double difference = 0) {
    Bin& bin = bins_[BinOf(magnitude)];
    bin.errors += error * error;
    bin.differences += difference * difference;
    ++bin.count;
  }
  void Add(const ErrorsByMagnitude& other) {
    for (size_t i = 0; i < bins_.size(); ++i) bins_[i].Add(other.bins_[i]);
  }
  void Clear() { bins_.fill({}); }
  // Numbers whose exponent is that of the magnitude or one off.
  int64_t CountNear(double magnitude) const { return Near(magnitude).count; }
  // The root mean square of their errors; 0 if there are none.
  double ErrorNear(double magnitude) const {
    const Bin near = Near(magnitude);
    return near.Root(near.errors);
  }
  double DifferenceNear(double magnitude) const {
    const Bin near = Near(magnitude);
    return near.Root(near.differences);
  }

 private:
  struct Bin {
    void Add(const Bin& other) {
      errors += other.errors;
      differences += other.differences;
      count += other.count;
    }
    double Root(double squares) const {
      return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
    }

    // Sums of squares.
    double errors = 0;
    double differences = 0;
    int64_t count = 0;
  };
  // Magnitudes from 2^-160 to 2^160; what is beyond shares a bin.
  static constexpr int kRange = 160;
  static constexpr size_t kBins = 2 * kRange + 1;

  static size_t BinOf(double magnitude) {
    // The exponent as stored; 0 and denormals have the smallest.
    const auto exponent =
        static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52 & 0x7ff);
    return static_cast<size_t>(std::clamp(exponent - 1023, -kRange, kRange) +
                               kRange);
  }
  Bin Near(double magnitude) const {
    const size_t at = BinOf(magnitude);
    Bin near;
    for (size_t i = at == 0 ? 0 : at - 1; i <= std::min(at + 1, kBins - 1); ++i)
      near.Add(bins_[i]);
    return near;
  }

  std::array<Bin, kBins> bins_{};
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_ERRORS_BY_MAGNITUDE_H_

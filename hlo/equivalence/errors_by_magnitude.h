#ifndef HONE_HLO_EQUIVALENCE_ERRORS_BY_MAGNITUDE_H_
#define HONE_HLO_EQUIVALENCE_ERRORS_BY_MAGNITUDE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hone::hlo {

// Sums of squared errors by the power of two of the magnitude.
class ErrorsByMagnitude {
 public:
  void Add(double magnitude, double error) {
    Bin& bin = bins_[BinOf(magnitude)];
    bin.squares += error * error;
    ++bin.count;
  }
  void Clear() { bins_.fill({}); }
  // Numbers whose exponent is that of the magnitude or one off.
  int64_t CountNear(double magnitude) const { return Near(magnitude).count; }
  double RmsNear(double magnitude) const {
    const Bin near = Near(magnitude);
    return near.count == 0
               ? 0
               : std::sqrt(near.squares / static_cast<double>(near.count));
  }

 private:
  struct Bin {
    double squares = 0;
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
    for (size_t i = at == 0 ? 0 : at - 1; i <= std::min(at + 1, kBins - 1);
         ++i) {
      near.squares += bins_[i].squares;
      near.count += bins_[i].count;
    }
    return near;
  }

  std::array<Bin, kBins> bins_{};
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_ERRORS_BY_MAGNITUDE_H_

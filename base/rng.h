#ifndef HONE_BASE_RNG_H_
#define HONE_BASE_RNG_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace hone {

// xoshiro256**: a small, fast, seedable generator whose sequence is the same on
// every platform, so that a recorded seed replays.
// Source: Blackman and Vigna, "Scrambled Linear Pseudorandom Number
// Generators", 2021; state filled by splitmix64 as its authors advise.
class Rng {
 public:
  using State = std::array<uint64_t, 4>;

  explicit Rng(uint64_t seed);

  // The next 64 random bits.
  uint64_t Next();
  // Uniform in [0, bound); bound > 0. Unbiased (Lemire's rejection).
  uint64_t Below(uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double Uniform();
  // Standard normal (Box-Muller, one value per call).
  double Normal();
  // An independent generator, for a child task.
  Rng Split();

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

  // UniformRandomBitGenerator, for std::shuffle.
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() { return Next(); }

 private:
  State state_;
};

}  // namespace hone

#endif  // HONE_BASE_RNG_H_

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/window.h"
#include "hlo/evaluator/types.h"

// The two generators with a defined result. Source: Salmon, Moraes, Dror and
// Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011. How counters map
// to elements is XLA's.

namespace hone::hlo::evaluator {
namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// Threefry-2x32, 20 rounds.
std::array<uint32_t, 2> ThreeFry(uint64_t key, uint64_t counter) {
  constexpr std::array<int, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::array<uint32_t, 3> keys = {Low(key), High(key),
                                        Low(key) ^ High(key) ^ 0x1BD11BDA};
  uint32_t a = Low(counter) + keys[0];
  uint32_t b = High(counter) + keys[1];
  for (size_t round = 0; round < 20; ++round) {
    a += b;
    b = std::rotl(b, kRotations[round % 8]) ^ a;
    if (round % 4 == 3) {
      const uint32_t step = static_cast<uint32_t>(round / 4 + 1);
      a += keys[step % 3];
      b += keys[(step + 1) % 3] + step;
    }
  }
  return {a, b};
}

// Philox-4x32, 10 rounds.
std::array<uint32_t, 4> Philox(uint64_t key, std::array<uint32_t, 4> c) {
  uint32_t k0 = Low(key);
  uint32_t k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t x = uint64_t{0xD2511F53} * c[0];
    const uint64_t y = uint64_t{0xCD9E8D57} * c[2];
    c = {High(y) ^ c[1] ^ k0, Low(y), High(x) ^ c[3] ^ k1, Low(x)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

// The words of u32[dimensions]; advances the counter. A block gives two words,
// which become neighbors along one dimension: the first of even size, else the
// largest.
std::vector<uint32_t> ThreeFryWords(uint64_t key, uint64_t& counter,
                                    DimensionVector dimensions) {
  if (dimensions.empty()) dimensions = {1};
  size_t split = 0;
  bool is_even = false;
  for (size_t d = 0; d < dimensions.size() && !is_even; ++d) {
    is_even = dimensions[d] % 2 == 0;
    if (is_even || dimensions[d] > dimensions[split]) split = d;
  }
  DimensionVector halved = dimensions;
  halved[split] = (dimensions[split] + 1) / 2;
  std::vector<uint32_t> words(static_cast<size_t>(Product(dimensions)));
  DimensionVector index(dimensions.size());
  for (size_t i = 0; i < words.size(); ++i) {
    Unravel(static_cast<int64_t>(i), dimensions, index);
    const bool second = index[split] % 2 != 0;
    index[split] /= 2;
    uint64_t block = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      block = block * static_cast<uint64_t>(halved[d]) +
              static_cast<uint64_t>(index[d]);
    }
    words[i] = ThreeFry(key, counter + block)[second ? 1 : 0];
  }
  counter += static_cast<uint64_t>(Product(halved));
  return words;
}

// `count` words in the order of the counters; advances the counter.
std::vector<uint32_t> PhiloxWords(uint64_t key, uint64_t& low, uint64_t high,
                                  size_t count) {
  std::vector<uint32_t> words;
  words.reserve(count + 3);
  while (words.size() < count) {
    for (uint32_t word :
         Philox(key, {Low(low), High(low), Low(high), High(high)})) {
      words.push_back(word);
    }
    if (++low == 0) ++high;
  }
  words.resize(count);
  return words;
}

}  // namespace

absl::StatusOr<Literal> EvaluateRngBitGenerator(Context& context,
                                                const Operation& operation) {
  const RandomAlgorithm algorithm = operation.attributes().rng_algorithm;
  const Literal& state = operation.operands[0];
  const bool is_threefry = algorithm == RandomAlgorithm::kThreeFry;
  if (algorithm == RandomAlgorithm::kDefault) {
    return UnimplementedError(operation.instruction,
                              "each backend has its own default algorithm");
  }
  if (state.shape().element_type() != ElementType::kU64 ||
      state.num_elements() != (is_threefry ? 2 : 3)) {
    return UnimplementedError(operation.instruction, "the state is unusual");
  }
  const ShapePtr& shape = operation.shape().tuple_element(1);
  const int64_t width = ByteWidth(shape->element_type());
  if (!IsIntegral(shape->element_type()) ||
      BitWidth(shape->element_type()) < 8) {
    return UnimplementedError(operation.instruction);
  }
  HONE_ASSIGN_OR_RETURN(Literal next_state,
                        context.Allocate(state.shape_ptr()));
  HONE_ASSIGN_OR_RETURN(Literal bits, context.Allocate(shape));
  const absl::Span<uint64_t> next = next_state.mutable_values<uint64_t>();
  for (size_t i = 0; i < next.size(); ++i) {
    next[i] = state.values<uint64_t>()[i];
  }
  const size_t n = static_cast<size_t>(shape->num_elements());
  std::vector<uint32_t> words;
  if (!is_threefry) {
    uint64_t high = next[2];
    words = PhiloxWords(next[0], next[1], high, width == 8 ? 2 * n : n);
    if (next[1] < state.values<uint64_t>()[1]) next[2] = high + 1;
  } else if (width == 8) {
    for (size_t i = 0; i < n; ++i) {
      for (uint32_t word : ThreeFry(next[0], next[1]++)) words.push_back(word);
    }
  } else {
    words = ThreeFryWords(next[0], next[1], shape->dimensions());
  }
  DispatchWidth(width, [&]<typename T>() {
    if constexpr (sizeof(T) == 8) {
      for (size_t i = 0; i < n; ++i) {
        bits.mutable_values<uint64_t>()[i] =
            uint64_t{words[2 * i + 1]} << 32 | words[2 * i];
      }
    } else if constexpr (sizeof(T) < 8) {
      for (size_t i = 0; i < n; ++i) {
        bits.mutable_values<T>()[i] = static_cast<T>(words[i]);
      }
    }
  });
  std::vector<Literal> results;
  results.push_back(std::move(next_state));
  results.push_back(std::move(bits));
  return Literal::Tuple(std::move(results));
}

}  // namespace hone::hlo::evaluator

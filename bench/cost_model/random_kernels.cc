#include "bench/cost_model/random_kernels.h"

#include <algorithm>
#include <cmath>

#include "base/mix_bits.h"

namespace hone::bench {

double DrawLog(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.Uniform());
}

int64_t DrawLength(Rng& rng, double low, double high) {
  auto length = static_cast<int64_t>(std::llround(DrawLog(rng, low, high)));
  if (length >= 24 && rng.Below(2) == 0) length = (length + 8) / 16 * 16;
  return std::max<int64_t>(length, 1);
}

std::vector<int64_t> DrawExtents(Rng& rng, size_t rank, double elements) {
  // Shares of the logarithm, none of them too small.
  std::vector<double> shares(rank);
  double sum = 0;
  for (double& share : shares) sum += share = 0.25 + rng.Uniform();
  std::vector<int64_t> extents;
  for (const double share : shares) {
    const double length = std::max(2.0, std::pow(elements, share / sum));
    extents.push_back(DrawLength(rng, length / 1.2, length * 1.2));
  }
  return extents;
}

std::string DrawType(Rng& rng) { return rng.Below(4) == 0 ? "bf16" : "f32"; }

NamedKernel DrawKernel(uint64_t seed, int64_t number) {
  const auto products = ProductFamilies();
  const auto maps = MapFamilies();
  Rng rng(MixBits(seed) ^ static_cast<uint64_t>(number));
  // Products and others by turns: products have more choices to make.
  const auto turn = static_cast<size_t>(number / 2);
  const KernelFamily& family = number % 2 == 0
                                   ? products[turn % products.size()]
                                   : maps[turn % maps.size()];
  NamedKernel kernel = family.draw(rng);
  kernel.family = std::string(family.name);
  return kernel;
}

NamedKernel DrawComposite(uint64_t seed, int64_t number) {
  const auto families = CompositeFamilies();
  // Other numbers than those of DrawKernel.
  Rng rng(MixBits(~seed) ^ static_cast<uint64_t>(number));
  const KernelFamily& family =
      families[static_cast<size_t>(number) % families.size()];
  NamedKernel kernel = family.draw(rng);
  kernel.family = std::string(family.name);
  return kernel;
}

}  // namespace hone::bench

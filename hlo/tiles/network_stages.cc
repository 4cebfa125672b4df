#include "hlo/tiles/network_stages.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "hlo/tiles/tiled_kernel.h"

namespace hone::hlo {

double NetworkStages(const Instruction& instruction) {
  const Shape* const shape = TiledShape(instruction);
  if (shape == nullptr) return 1;
  const DimensionVector& dimensions = instruction.dimensions();
  switch (instruction.opcode()) {
    case Opcode::kSort: {
      if (dimensions.empty() || dimensions[0] >= shape->rank()) return 1;
      const auto length = static_cast<double>(
          std::max<int64_t>(2, shape->dimension(dimensions[0])));
      const double levels = std::ceil(std::log2(length));
      return levels * (levels + 1) / 2;
    }
    case Opcode::kFft: {
      // They are lengths here.
      double length = 1;
      for (const int64_t n : dimensions) {
        length *= static_cast<double>(std::max<int64_t>(n, 1));
      }
      return std::max(1.0, std::log2(length));
    }
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve: {
      if (shape->rank() < 2) return 1;
      // Of a solve, the rows of the triangle, not the right sides.
      const std::string* const left =
          instruction.attributes().FindOther("left_side");
      const bool is_last = instruction.opcode() == Opcode::kTriangularSolve &&
                           (left == nullptr || *left != "true");
      return static_cast<double>(std::max<int64_t>(
          1, shape->dimension(shape->rank() - (is_last ? 1 : 2))));
    }
    default:
      return 1;
  }
}

}  // namespace hone::hlo

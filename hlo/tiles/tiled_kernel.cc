#include "hlo/tiles/tiled_kernel.h"

#include <algorithm>
#include <cstddef>

#include "base/saturating.h"
#include "hlo/tiles/box.h"

namespace hone::hlo {
namespace {

// The sizes that an instruction reduces if it can be a hero.
DimensionVector ReducedSizes(const Computation& computation,
                             const Instruction& instruction) {
  DimensionVector sizes;
  const Shape* const operand =
      instruction.operand_count() > 0
          ? TiledShape(computation[instruction.operand(0)])
          : nullptr;
  if (operand == nullptr) return sizes;
  const auto add = [&sizes](const Shape& shape, const DimensionVector& which) {
    for (const int64_t d : which) {
      if (d >= 0 && d < shape.rank()) sizes.push_back(shape.dimension(d));
    }
  };
  if (instruction.opcode() == Opcode::kDot &&
      instruction.attributes().dot != nullptr) {
    add(*operand, instruction.attributes().dot->lhs_contracting);
  } else if (instruction.opcode() == Opcode::kReduce) {
    add(*operand, instruction.dimensions());
  } else if (instruction.opcode() == Opcode::kConvolution &&
             instruction.attributes().convolution != nullptr &&
             instruction.operand_count() > 1) {
    const Shape* const kernel = TiledShape(computation[instruction.operand(1)]);
    if (kernel != nullptr) {
      add(*kernel,
          {instruction.attributes().convolution->kernel_input_feature});
    }
  }
  return sizes;
}

// The work of an instruction as the hero: multiply-adds, or elements reduced.
// Products come before sums, however large.
struct HeroWork {
  bool is_product = false;
  int64_t operations = 0;
  friend auto operator<=>(const HeroWork&, const HeroWork&) = default;
};

HeroWork WorkOf(const Instruction& instruction, const DimensionVector& sizes) {
  const Shape& shape = *TiledShape(instruction);
  HeroWork work;
  work.is_product = instruction.opcode() != Opcode::kReduce;
  work.operations = Volume(WholeBox(shape.dimensions()));
  for (const int64_t size : sizes) {
    work.operations = SaturatingMultiply(work.operations, size);
  }
  if (instruction.opcode() == Opcode::kConvolution &&
      instruction.attributes().window != nullptr) {
    for (const WindowDimension& d : *instruction.attributes().window) {
      work.operations =
          SaturatingMultiply(work.operations, std::max<int64_t>(d.size, 1));
    }
  }
  return work;
}

bool MayBeHero(const Instruction& instruction) {
  return (instruction.opcode() == Opcode::kDot ||
          instruction.opcode() == Opcode::kConvolution ||
          instruction.opcode() == Opcode::kReduce) &&
         TiledShape(instruction) != nullptr;
}

int64_t ElementCount(const Instruction& instruction) {
  const Shape* const shape = TiledShape(instruction);
  return shape == nullptr ? -1 : Volume(WholeBox(shape->dimensions()));
}

}  // namespace

const Shape* TiledShape(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  if (shape.IsArray()) return &shape;
  if (!shape.IsTuple() || shape.tuple_elements().empty()) return nullptr;
  switch (instruction.opcode()) {
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSort: {
      const Shape& first = *shape.tuple_element(0);
      const bool are_alike = std::all_of(
          shape.tuple_elements().begin(), shape.tuple_elements().end(),
          [&first](const ShapePtr& element) {
            return element->IsArray() &&
                   element->dimensions() == first.dimensions();
          });
      return are_alike ? &first : nullptr;
    }
    case Opcode::kRngBitGenerator: {
      // The state beside it is small.
      const Shape& last = *shape.tuple_elements().back();
      return last.IsArray() ? &last : nullptr;
    }
    default:
      return nullptr;
  }
}

TiledKernel::TiledKernel(const Module& module) : module_(module) {
  IdMap<bool> reaches_root;
  std::vector<InstructionId> stack = {computation().root()};
  if (!computation().Contains(computation().root())) return;
  reaches_root[computation().root()] = true;
  while (!stack.empty()) {
    const InstructionId id = stack.back();
    stack.pop_back();
    for (const InstructionId operand : computation()[id].operands()) {
      if (reaches_root.at(operand)) continue;
      reaches_root[operand] = true;
      stack.push_back(operand);
    }
  }
  for (const InstructionId id : computation().PostOrder()) {
    if (reaches_root.at(id)) instructions_.push_back(id);
  }
  FindHero();
  FindResults();
  FindSideReductions();
}

absl::Span<const int64_t> TiledKernel::output_dimensions() const {
  if (primary_ == kNoInstruction) return {};
  const Shape* const shape = TiledShape(computation()[primary_]);
  return shape == nullptr ? absl::Span<const int64_t>() : shape->dimensions();
}

void TiledKernel::FindHero() {
  HeroWork most;
  for (const InstructionId id : instructions_) {
    const Instruction& instruction = computation()[id];
    if (!MayBeHero(instruction)) continue;
    const DimensionVector sizes = ReducedSizes(computation(), instruction);
    const HeroWork work = WorkOf(instruction, sizes);
    if (hero_ != kNoInstruction && work <= most) continue;
    hero_ = id;
    most = work;
    reduction_dimensions_ = sizes;
  }
  if (hero_ == kNoInstruction) return;
  heroes_[hero_] = true;
  const Instruction& hero = computation()[hero_];
  const auto depends = [this](const Instruction& instruction) {
    return std::any_of(instruction.operands().begin(),
                       instruction.operands().end(), [this](InstructionId id) {
                         return heroes_.at(id) || epilogue_.at(id);
                       });
  };
  for (const InstructionId id : instructions_) {
    const Instruction& instruction = computation()[id];
    if (depends(instruction)) {
      epilogue_[id] = true;
    } else if (hero.opcode() == Opcode::kReduce &&
               instruction.opcode() == Opcode::kReduce &&
               TiledShape(instruction) != nullptr &&
               instruction.operand_count() > 0 &&
               instruction.dimensions() == hero.dimensions()) {
      const Shape* const mine =
          TiledShape(computation()[instruction.operand(0)]);
      const Shape* const its = TiledShape(computation()[hero.operand(0)]);
      if (mine != nullptr && mine->dimensions() == its->dimensions()) {
        heroes_[id] = true;
      }
    }
  }
}

void TiledKernel::FindResults() {
  if (instructions_.empty()) return;
  const Instruction& root = computation()[computation().root()];
  if (root.opcode() == Opcode::kTuple) {
    results_.assign(root.operands().begin(), root.operands().end());
  }
  if (results_.empty()) results_.push_back(root.id());
  const auto rank = [this](InstructionId id) {
    const bool is_late = heroes_.at(id) || epilogue_.at(id);
    return std::make_pair(is_late, ElementCount(computation()[id]));
  };
  primary_ = *std::max_element(
      results_.begin(), results_.end(),
      [&rank](InstructionId a, InstructionId b) { return rank(a) < rank(b); });
}

void TiledKernel::FindSideReductions() {
  if (primary_ == kNoInstruction) return;
  domain_ = primary_;
  IdMap<bool> needed;
  needed[primary_] = true;
  for (auto it = instructions_.rbegin(); it != instructions_.rend(); ++it) {
    if (!needed.at(*it)) continue;
    const Instruction& instruction = computation()[*it];
    for (const InstructionId operand : instruction.operands()) {
      needed[operand] = true;
    }
    // The primary result may need another hero than the largest.
    if (heroes_.at(*it) && instruction.opcode() == Opcode::kReduce) {
      domain_ = instruction.operand(0);
    }
  }
  const Shape* const domain = TiledShape(computation()[domain_]);
  if (domain == nullptr) return;
  for (const InstructionId id : instructions_) {
    const Instruction& instruction = computation()[id];
    if (needed.at(id)) continue;
    if (instruction.opcode() != Opcode::kReduce || heroes_.at(id) ||
        instruction.operand_count() == 0 ||
        TiledShape(instruction) == nullptr) {
      continue;
    }
    const Shape* const operand =
        TiledShape(computation()[instruction.operand(0)]);
    side_[id] =
        operand != nullptr && operand->dimensions() == domain->dimensions();
  }
}

}  // namespace hone::hlo

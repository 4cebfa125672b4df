#include "costmodels/xla_cpu_loops.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"

#include "costmodels/xla_cpu_rules.h"
#include "costmodels/xla_cpu_work.h"
#include "hlo/ir/id_map.h"

namespace hone::costmodels {
namespace {

using hlo::Computation;
using hlo::DimensionVector;
using hlo::IdMap;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

// Evaluations of instructions that are followed in one kernel.
constexpr int kMaxVisits = 4096;

// The dimensions, the fastest in memory first. Before XLA has assigned layouts
// they mean nothing, and all arrays are row-major.
class Layouts {
 public:
  explicit Layouts(const Module& module) : assigned_(module.is_scheduled()) {}

  int64_t Dimension(const Shape& shape, int64_t i) const {
    return assigned_ && shape.layout() != nullptr
               ? shape.layout()->minor_to_major[static_cast<size_t>(i)]
               : shape.rank() - 1 - i;
  }

  // The distance in memory between neighbors in each dimension, in elements.
  DimensionVector Strides(const Shape& shape) const {
    DimensionVector strides(static_cast<size_t>(shape.rank()));
    int64_t stride = 1;
    for (int64_t i = 0; i < shape.rank(); ++i) {
      const int64_t d = Dimension(shape, i);
      strides[static_cast<size_t>(d)] = stride;
      stride *= shape.dimension(d);
    }
    return strides;
  }

 private:
  const bool assigned_;
};

// How the element of an instruction that a loop needs moves as a variable of
// the loop counts: `step` elements along `dimension`, or not at all.
struct Motion {
  int64_t dimension = -1;
  int64_t step = 1;
  bool still() const { return dimension < 0; }
};
// One for each loop of a kernel, the innermost first.
using Motions = absl::InlinedVector<Motion, 4>;

// An evaluation of an instruction inside a kernel.
struct Visit {
  InstructionId id;
  Motions motions;
  double count;    // evaluations
  size_t mapping;  // identifies the index as a function of the loops' variables

  bool still() const { return motions.empty() || motions[0].still(); }
};

// Follows the indices of a kernel from its root to what it reads.
class Walker {
 public:
  Walker(const Module& module, const Computation& computation,
         absl::Span<const InstructionId> members)
      : layouts_(module), computation_(computation) {
    for (InstructionId id : members) member_[id] = true;
  }

  LoopWork Run(InstructionId root) {
    const Instruction& instruction = computation_[root];
    if (instruction.opcode() == Opcode::kTuple) {
      for (InstructionId operand : instruction.operands()) Start(operand);
    } else {
      Start(root);
    }
    while (!pending_.empty() && visits_ < kMaxVisits) {
      const Visit visit = pending_.back();
      pending_.pop_back();
      ++visits_;
      Evaluate(visit);
    }
    return work_;
  }

 private:
  void Start(InstructionId root) {
    const Instruction& instruction = computation_[root];
    const Shape* shape = &instruction.shape();
    // An update in place goes over what it writes.
    const bool in_place = instruction.opcode() == Opcode::kDynamicUpdateSlice;
    if (in_place) shape = &computation_[instruction.operand(1)].shape();
    if (shape->IsTuple() && !shape->tuple_elements().empty()) {
      shape = shape->tuple_element(0).get();
    }
    const double elements = Elements(*shape);
    SetLoops(*shape);
    Motions motions;
    for (const auto& [dimension, size] : loops_) {
      motions.push_back({dimension, 1});
    }
    work_.elements += elements;
    work_.rows += elements / inner_;
    work_.AddBytes(Bytes(*shape));
    if (in_place) {
      for (size_t i = 1; i < instruction.operand_count(); ++i) {
        Push(instruction.operand(i), i == 1 ? motions : Motions(),
             i == 1 ? elements : 1, i);
      }
      return;
    }
    Push(root, motions, elements, 0);
  }

  // Loops over the elements of a shape, the fastest first.
  void SetLoops(const Shape& shape) {
    loops_.clear();
    for (int64_t i = 0; i < shape.rank(); ++i) {
      const int64_t d = layouts_.Dimension(shape, i);
      if (shape.dimension(d) > 1) loops_.push_back({d, shape.dimension(d)});
    }
    inner_ = loops_.empty() ? 1 : static_cast<double>(loops_[0].second);
  }

  void Push(InstructionId id, const Motions& motions, double count,
            size_t mapping) {
    const Instruction& instruction = computation_[id];
    // The same element needs no code again.
    if (!seen_.insert({id, mapping}).second) return;
    const bool scalar = instruction.shape().num_elements() == 1;
    Visit visit = {id, scalar ? Motions() : motions, count, mapping};
    if (member_.at(id)) {
      pending_.push_back(std::move(visit));
    } else {
      Read(visit);
    }
  }

  void Read(const Visit& visit) {
    const Instruction& source = computation_[visit.id];
    const Shape& shape = source.shape();
    if (source.opcode() == Opcode::kIota || !shape.IsArray()) return;
    const double width =
        static_cast<double>(hlo::ByteWidth(shape.element_type()));
    work_.AddBytes(std::min(visit.count, Elements(shape)) * width);
    if (visit.still()) return;
    const DimensionVector strides = layouts_.Strides(shape);
    const auto distance = [&](const Motion& motion) {
      return motion.still()
                 ? 0
                 : motion.step * strides[static_cast<size_t>(motion.dimension)];
    };
    if (distance(visit.motions[0]) == 1) return;
    // Lines that the loops inside the one along memory touch.
    double lines = 1;
    for (size_t i = 0; i < visit.motions.size() && i < loops_.size(); ++i) {
      const int64_t d = distance(visit.motions[i]);
      if (d == 1) break;
      if (d != 0) lines *= static_cast<double>(loops_[i].second);
    }
    work_.strided.push_back(
        {.count = visit.count,
         .lines = lines,
         .distance =
             static_cast<double>(std::abs(distance(visit.motions[0]))) * width,
         .array_bytes = Bytes(shape)});
  }

  void Evaluate(const Visit& visit) {
    const Instruction& instruction = computation_[visit.id];
    const auto follow = [&](size_t operand, const Motions& motions,
                            size_t mapping) {
      Push(instruction.operand(operand), motions, visit.count, mapping);
    };
    const auto renamed = [&](auto rename) {
      Motions motions = visit.motions;
      for (Motion& motion : motions) {
        if (!motion.still()) motion = rename(motion);
      }
      return motions;
    };
    const size_t changed =
        absl::HashOf(visit.mapping, instruction.opcode(),
                     instruction.dimensions(), instruction.shape().rank());
    const size_t own = absl::HashOf(visit.mapping, visit.id);
    const auto at = [](const auto& values, int64_t i) {
      return values[static_cast<size_t>(i)];
    };
    switch (instruction.opcode()) {
      case Opcode::kConstant:
        if (instruction.shape().num_elements() > 1) Read(visit);
        return;
      case Opcode::kIota:
        work_.flops += visit.count;
        return;
      case Opcode::kBitcast:
      case Opcode::kReshape:
        if (instruction.shape().dimensions() ==
            Operand(instruction, 0).dimensions()) {
          follow(0, visit.motions, visit.mapping);
        } else {
          follow(0, Reshaped(instruction, visit.motions),
                 absl::HashOf(visit.mapping,
                              Operand(instruction, 0).dimensions()));
        }
        return;
      case Opcode::kBroadcast:
        follow(0, renamed([&](Motion m) {
                 return Motion{IndexIn(instruction.dimensions(), m.dimension),
                               m.step};
               }),
               changed);
        return;
      case Opcode::kDot:
        EvaluateOuterProduct(visit, instruction);
        return;
      case Opcode::kTranspose:
        follow(
            0, renamed([&](Motion m) {
              return Motion{at(instruction.dimensions(), m.dimension), m.step};
            }),
            changed);
        return;
      case Opcode::kReverse:
        follow(0, visit.motions, own);
        return;
      case Opcode::kSlice:
        follow(
            0, renamed([&](Motion m) {
              return Motion{
                  m.dimension,
                  m.step *
                      at(instruction.attributes().slice, m.dimension).stride};
            }),
            own);
        return;
      case Opcode::kDynamicSlice:
        follow(0, visit.motions, own);
        for (size_t i = 1; i < instruction.operand_count(); ++i) {
          Push(instruction.operand(i), {}, 1, i);
        }
        return;
      case Opcode::kDynamicUpdateSlice:
        work_.branches += visit.count;
        follow(0, visit.motions, visit.mapping);
        follow(1, visit.motions, own);
        return;
      case Opcode::kPad:
        work_.branches += visit.count;
        follow(0, visit.motions, own);
        follow(1, {}, 0);
        return;
      case Opcode::kConcatenate: {
        work_.branches += visit.count;
        const double total = std::max(Elements(instruction.shape()), 1.0);
        for (size_t i = 0; i < instruction.operand_count(); ++i) {
          const double share = Elements(Operand(instruction, i)) / total;
          Push(instruction.operand(i), visit.motions, visit.count * share,
               absl::HashOf(own, i));
        }
        return;
      }
      case Opcode::kGather: {
        work_.gathered += visit.count;
        const auto& dims = instruction.attributes().gather;
        const int64_t last = Operand(instruction, 0).rank() - 1;
        follow(0, renamed([&](Motion m) {
                 const bool in_slice =
                     dims != nullptr &&
                     absl::c_linear_search(dims->offset_dims, m.dimension);
                 return Motion{in_slice ? last : -1, m.step};
               }),
               own);
        Push(instruction.operand(1), {}, visit.count / inner_, own);
        return;
      }
      case Opcode::kReduce:
        EvaluateReduce(visit, instruction);
        return;
      default:
        AddOperation(visit, instruction.opcode());
        for (size_t i = 0; i < instruction.operand_count(); ++i) {
          const bool same_index = Operand(instruction, i).dimensions() ==
                                  instruction.shape().dimensions();
          follow(i, same_index ? visit.motions : Motions(), visit.mapping);
        }
    }
  }

  static int64_t IndexIn(absl::Span<const int64_t> values, int64_t value) {
    const auto found = absl::c_find(values, value);
    return found == values.end() ? -1 : found - values.begin();
  }

  // The result has the batch dimensions, then those of each operand.
  void EvaluateOuterProduct(const Visit& visit, const Instruction& dot) {
    AddOperation(visit, Opcode::kMultiply);
    const hlo::DotDimensions& dims = *dot.attributes().dot;
    auto next = static_cast<int64_t>(dims.lhs_batch.size());
    for (size_t operand = 0; operand < 2; ++operand) {
      const auto& batch = operand == 0 ? dims.lhs_batch : dims.rhs_batch;
      const auto& contracting =
          operand == 0 ? dims.lhs_contracting : dims.rhs_contracting;
      DimensionVector of_result(static_cast<size_t>(dot.shape().rank()), -1);
      for (size_t i = 0; i < batch.size(); ++i) of_result[i] = batch[i];
      for (int64_t d = 0; d < Operand(dot, operand).rank(); ++d) {
        if (absl::c_linear_search(batch, d) ||
            absl::c_linear_search(contracting, d)) {
          continue;
        }
        of_result[static_cast<size_t>(next++)] = d;
      }
      Motions motions = visit.motions;
      for (Motion& motion : motions) {
        if (motion.still()) continue;
        motion.dimension = of_result[static_cast<size_t>(motion.dimension)];
      }
      Push(dot.operand(operand), motions, visit.count,
           absl::HashOf(visit.mapping, visit.id, operand));
    }
  }

  void AddOperation(const Visit& visit, Opcode opcode) {
    if (opcode == Opcode::kCopy) return;
    // What does not change in the inner loop is computed outside.
    const double count = visit.still() ? visit.count / inner_ : visit.count;
    switch (ClassOf(opcode)) {
      case OpClass::kFlop:
        work_.flops += count;
        return;
      case OpClass::kDivision:
        work_.divisions += count;
        return;
      case OpClass::kFunction:
        work_.functions += count;
        return;
      case OpClass::kSlowFunction:
        work_.slow_functions += count;
        return;
    }
  }

  // A loop inside the loop, over the reduced dimensions.
  void EvaluateReduce(const Visit& visit, const Instruction& reduce) {
    const size_t inputs = reduce.operand_count() / 2;
    for (size_t i = 0; i < inputs; ++i) {
      const Shape& input = Operand(reduce, i);
      double width = 1;
      for (int64_t d : reduce.dimensions()) {
        width *= static_cast<double>(input.dimension(d));
      }
      const double count = visit.count * width;
      const bool along =
          absl::c_linear_search(reduce.dimensions(), input.rank() - 1);
      (along ? work_.reduced : work_.reduced_strided) += count;
      // The innermost loop is over the last reduced dimension.
      Motions motions(1);
      for (int64_t d : reduce.dimensions()) {
        motions[0].dimension = std::max(motions[0].dimension, d);
      }
      Push(reduce.operand(i), motions, count,
           absl::HashOf(visit.mapping, visit.id));
    }
  }

  const Shape& Operand(const Instruction& instruction, size_t i) const {
    return computation_[instruction.operand(i)].shape();
  }

  // The motions in the operand of a reshape or bitcast.
  Motions Reshaped(const Instruction& instruction, Motions motions) const {
    const DimensionVector from = layouts_.Strides(instruction.shape());
    const Shape& operand = Operand(instruction, 0);
    const DimensionVector to = layouts_.Strides(operand);
    for (Motion& motion : motions) {
      if (motion.still()) continue;
      const int64_t distance =
          motion.step * from[static_cast<size_t>(motion.dimension)];
      motion = {};
      for (int64_t d = 0; d < operand.rank(); ++d) {
        const int64_t stride = to[static_cast<size_t>(d)];
        if (operand.dimension(d) > 1 && stride <= distance &&
            distance < stride * operand.dimension(d)) {
          motion = {d, distance / stride};
        }
      }
    }
    return motions;
  }

  const Layouts layouts_;
  const Computation& computation_;
  IdMap<bool> member_;
  // Dimension and size of the root's loops, the innermost first.
  std::vector<std::pair<int64_t, int64_t>> loops_;
  double inner_ = 1;
  std::vector<Visit> pending_;
  absl::flat_hash_set<std::pair<InstructionId, size_t>> seen_;
  int visits_ = 0;
  LoopWork work_;
};

}  // namespace

void AddLoopFeatures(const Module& module, const Computation& computation,
                     absl::Span<const InstructionId> members,
                     InstructionId root, XlaCpuFeatures& features) {
  AddFeatures(Walker(module, computation, members).Run(root), features);
}

}  // namespace hone::costmodels

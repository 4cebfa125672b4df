#include "backends/roofline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hlo/analysis/cost_analysis.h"

namespace hone::backends {

namespace {

using hlo::ElementType;
using hlo::Opcode;

// The counts of operations, which the functions below treat alike.
constexpr double LeastWork::*kCounts[] = {
    &LeastWork::flops, &LeastWork::f64_flops, &LeastWork::bf16_dot_flops,
    &LeastWork::s16_flops, &LeastWork::s8_flops};

// Returns the type of an operand of a contraction before its elements were
// converted, which changes none of them, and moved.
ElementType TypeBeforeConversion(const hlo::Computation& computation,
                                 hlo::InstructionId id) {
  while (true) {
    const hlo::Instruction& instruction = computation[id];
    const ElementType type = instruction.shape().element_type();
    switch (instruction.opcode()) {
      case Opcode::kConvert: {
        const ElementType from =
            computation[instruction.operand(0)].shape().element_type();
        const bool is_widened = hlo::IsFloat(from) == hlo::IsFloat(type) &&
                                hlo::BitWidth(from) < hlo::BitWidth(type);
        if (!is_widened) return type;
        break;
      }
      case Opcode::kBroadcast:
      case Opcode::kCopy:
      case Opcode::kReshape:
      case Opcode::kSlice:
      case Opcode::kTranspose:
        break;
      default:
        return type;
    }
    id = instruction.operand(0);
  }
}

double LeastWork::*CountOfType(ElementType type) {
  if (type == ElementType::kF64 || type == ElementType::kC128) {
    return &LeastWork::f64_flops;
  }
  if (hlo::IsFloat(type) || hlo::IsComplex(type)) {
    return &LeastWork::flops;
  }
  if (hlo::BitWidth(type) <= 8) return &LeastWork::s8_flops;
  return hlo::BitWidth(type) <= 16 ? &LeastWork::s16_flops : &LeastWork::flops;
}

// Returns the count that the operations of an instruction belong to.
double LeastWork::*CountOf(const hlo::Computation& computation,
                           const hlo::Instruction& instruction) {
  const hlo::Shape* shape = &instruction.shape();
  while (shape->IsTuple() && !shape->tuple_elements().empty()) {
    shape = shape->tuple_elements()[0].get();
  }
  if (!shape->IsArray()) return &LeastWork::flops;
  const ElementType type = shape->element_type();
  if (instruction.opcode() != Opcode::kDot &&
      instruction.opcode() != Opcode::kConvolution) {
    return CountOfType(type);
  }
  const ElementType a =
      TypeBeforeConversion(computation, instruction.operand(0));
  const ElementType b =
      TypeBeforeConversion(computation, instruction.operand(1));
  if (hlo::IsFloat(type)) {
    const bool is_bf16 = a == ElementType::kBf16 && b == ElementType::kBf16 &&
                         hlo::BitWidth(type) <= 32;
    return is_bf16 ? &LeastWork::bf16_dot_flops : CountOfType(type);
  }
  if (hlo::IsFloat(a) || hlo::IsFloat(b) || hlo::IsComplex(type)) {
    return CountOfType(type);
  }
  return CountOfType(hlo::BitWidth(a) < hlo::BitWidth(b) ? b : a);
}

// Returns the operations of the entry computation, as CostAnalysis counts them.
LeastWork OperationsOf(const hlo::Module& module) {
  const hlo::CostAnalysis costs(module);
  std::vector<LeastWork> computations(
      static_cast<size_t>(module.computation_slots()));
  for (hlo::ComputationId id : module.ComputationPostOrder()) {
    const hlo::Computation& computation = module.computation(id);
    LeastWork& sum = computations[static_cast<size_t>(id)];
    for (const hlo::Instruction& i : computation.instructions()) {
      const auto called = [&](size_t at) -> const LeastWork& {
        return computations[static_cast<size_t>(i.called()[at])];
      };
      switch (i.opcode()) {
        case Opcode::kAsyncStart:
        case Opcode::kCall:
        case Opcode::kFusion:
          for (auto count : kCounts) sum.*count += called(0).*count;
          break;
        case Opcode::kWhile:
          for (auto count : kCounts) {
            sum.*count +=
                hlo::KnownTripCount(i) * (called(0).*count + called(1).*count);
          }
          break;
        case Opcode::kConditional:
          for (auto count : kCounts) {
            double most = 0;
            for (size_t branch = 0; branch < i.called().size(); ++branch) {
              most = std::max(most, called(branch).*count);
            }
            sum.*count += most;
          }
          break;
        default:
          sum.*CountOf(computation, i) +=
              costs.InstructionCosts(computation, i.id()).flops;
      }
    }
  }
  return computations[static_cast<size_t>(module.entry())];
}

}  // namespace

LeastWork LeastWorkOf(const hlo::Module& module) {
  LeastWork work = OperationsOf(module);
  const hlo::Computation& entry = module.entry_computation();
  for (hlo::InstructionId id : entry.parameters()) {
    work.bytes_read += static_cast<double>(entry[id].shape().byte_size());
  }
  work.bytes_written =
      static_cast<double>(entry[entry.root()].shape().byte_size());
  return work;
}

double RooflineNs(const Calibration& calibration, const LeastWork& work) {
  const double bytes = work.bytes_read + work.bytes_written;
  // Interpolates between pure reading and copying by the share of written
  // bytes.
  const double write_share =
      bytes > 0 ? std::min(1.0, 2 * work.bytes_written / bytes) : 0;
  const auto ns_per_byte = [&](const Calibration::Level& level) {
    return (1 - write_share) / level.read_gbps + write_share / level.copy_gbps;
  };
  const std::vector<Calibration::Level>& levels = calibration.levels;
  const auto above =
      std::find_if(levels.begin(), levels.end(), [&](const auto& level) {
        return bytes <= static_cast<double>(level.bytes);
      });
  double rate = 0;
  if (above == levels.begin() || above == levels.end()) {
    rate = ns_per_byte(above == levels.end() ? levels.back() : *above);
  } else {
    const auto below = above - 1;
    const double position =
        std::log2(bytes / static_cast<double>(below->bytes)) /
        std::log2(static_cast<double>(above->bytes) /
                  static_cast<double>(below->bytes));
    rate =
        (1 - position) * ns_per_byte(*below) + position * ns_per_byte(*above);
  }
  const auto ns = [&](double flops, double gflops) {
    return flops / (gflops > 0 ? gflops : calibration.peak_gflops);
  };
  return std::max({bytes * rate, ns(work.flops, calibration.peak_gflops),
                   ns(work.f64_flops, calibration.f64_gflops),
                   ns(work.bf16_dot_flops, calibration.bf16_dot_gflops),
                   ns(work.s16_flops, calibration.s16_dot_gflops),
                   ns(work.s8_flops, calibration.s8_dot_gflops)});
}

double RooflineNs(const Calibration& calibration, const LeastWork& work,
                  double measured_ns) {
  return std::min(RooflineNs(calibration, work), measured_ns);
}

}  // namespace hone::backends

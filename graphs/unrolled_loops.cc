#include "graphs/unrolled_loops.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

#include "base/status_macros.h"
#include "graphs/node_rules.h"
#include "graphs/trip_counts.h"
#include "hlo/analysis/cost_analysis.h"

namespace hone::graphs {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Module;
using hlo::Opcode;

// Copies are made by recursion into nested loops.
constexpr int kMaxLevels = 64;
// Instructions and operands in copies: about a gigabyte.
constexpr double kMaxCopies = 1 << 22;
constexpr int64_t kMaxControlEdges = int64_t{1} << 22;

// What a computation becomes, with loops in it unrolled. Doubles, as stated
// trip counts may be any whole number.
struct Size {
  double nodes = 0;
  double copies = 0;  // instructions and operands
  int levels = 0;     // of unrolled loops
};

class Unroller {
 public:
  explicit Unroller(const Module& module)
      : module_(module),
        sizes_(static_cast<size_t>(module.computation_slots())),
        orders_(sizes_.size()) {
    for (const ComputationId id : module.ComputationPostOrder()) {
      sizes_[static_cast<size_t>(id)] = Measure(module.computation(id));
    }
  }

  absl::Status CheckSize(int64_t max_nodes) const {
    const Computation& entry = module_.entry_computation();
    const Size& whole = sizes_[static_cast<size_t>(module_.entry())];
    const Instruction* largest = nullptr;
    double nodes = 0;
    double copies = 0;
    for (const Instruction& i : entry.instructions()) {
      if (!IsUnrolled(i)) continue;
      const Size size = SizeOfLoop(i);
      if (largest == nullptr || size.nodes > nodes ||
          (size.nodes == nodes && size.copies > copies)) {
        largest = &i;
        nodes = size.nodes;
        copies = size.copies;
      }
    }
    if (largest == nullptr) return absl::OkStatus();
    const double trips = hlo::KnownTripCount(*largest);
    if (whole.nodes > static_cast<double>(max_nodes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "loop '%s' would be %.0f nodes, in %.0f iterations, of a graph of "
          "%.0f nodes with its loops unrolled, expected at most %d",
          largest->name(), nodes, trips, whole.nodes, max_nodes));
    }
    if (whole.copies > kMaxCopies) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "loop '%s' would be %.0f instructions and operands, in %.0f "
          "iterations, of %.0f with loops unrolled, expected at most %.0f",
          largest->name(), copies, trips, whole.copies, kMaxCopies));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Module> Unroll() {
    const Computation& entry = module_.entry_computation();
    target_ = Computation(entry.name());
    HONE_ASSIGN_OR_RETURN(Value root, Copy(entry, nullptr, ""));
    target_.set_root(AsInstruction(root, entry[entry.root()]));
    Module result = module_;
    result.set_entry(result.AddComputation(std::move(target_)));
    result.RemoveUnreachableComputations();
    return result;
  }

 private:
  // A tuple, an instruction of the target once something reads it whole.
  struct Tuple {
    std::vector<InstructionId> elements;
    InstructionId id = kNoInstruction;
  };
  // What stands for an instruction: one of the target, or a tuple, which all
  // instructions share that pass it on.
  struct Value {
    InstructionId id = kNoInstruction;
    std::shared_ptr<Tuple> tuple = nullptr;
  };

  const Size& SizeOfBody(const Instruction& loop) const {
    return sizes_[static_cast<size_t>(loop.called()[1])];
  }
  bool IsUnrolled(const Instruction& instruction) const {
    return instruction.opcode() == Opcode::kWhile &&
           StatesTripCount(instruction) &&
           SizeOfBody(instruction).levels < kMaxLevels;
  }
  Size SizeOfLoop(const Instruction& loop) const {
    const Size& body = SizeOfBody(loop);
    const double trips = hlo::KnownTripCount(loop);
    // Also where its body would be infinite.
    if (trips == 0) return {.levels = body.levels + 1};
    return {.nodes = trips * body.nodes,
            .copies = trips * (body.copies + 1),
            .levels = body.levels + 1};
  }

  // Computations that it calls are measured.
  Size Measure(const Computation& computation) const {
    Size sum;
    for (const Instruction& i : computation.instructions()) {
      if (IsUnrolled(i)) {
        const Size size = SizeOfLoop(i);
        sum.nodes += size.nodes;
        sum.copies += size.copies;
        sum.levels = std::max(sum.levels, size.levels);
        continue;
      }
      sum.nodes += MakesNode(computation, i.id()) ? 1 : 0;
      sum.copies += 1 + static_cast<double>(i.operand_count());
    }
    return sum;
  }

  // The instructions of a computation, in the order in which they are copied.
  const std::vector<InstructionId>& OrderOf(const Computation& computation) {
    std::vector<InstructionId>& order =
        orders_[static_cast<size_t>(computation.id())];
    if (order.empty()) {
      order = module_.is_scheduled() ? computation.LiveInstructions()
                                     : computation.PostOrder();
    }
    return order;
  }

  // Copies a computation into the target, with `argument` for its parameter,
  // but for the entry, which keeps its parameters. Returns its result.
  absl::StatusOr<Value> Copy(const Computation& source, const Value* argument,
                             const std::string& suffix) {
    std::vector<Value> values(static_cast<size_t>(source.slot_count()));
    // What successors of an instruction wait for.
    std::vector<std::vector<InstructionId>> awaited(
        source.has_control_dependencies() ? values.size() : 0);
    for (const InstructionId id : OrderOf(source)) {
      const InstructionId begin = target_.slot_count();
      HONE_ASSIGN_OR_RETURN(
          values[static_cast<size_t>(id)],
          CopyInstruction(source, source[id], argument, suffix, values));
      if (awaited.empty() || !source.HasControlDependency(id)) continue;
      std::vector<InstructionId> work = WorkSince(begin);
      std::vector<InstructionId> before;
      for (const InstructionId predecessor : source.control_predecessors(id)) {
        const std::vector<InstructionId>& more =
            awaited[static_cast<size_t>(predecessor)];
        before.insert(before.end(), more.begin(), more.end());
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      HONE_RETURN_IF_ERROR(Order(before, work));
      if (work.empty() && IsUnrolled(source[id])) {
        HONE_RETURN_IF_ERROR(CountControlEdges(before.size()));
        work = std::move(before);
      }
      awaited[static_cast<size_t>(id)] = std::move(work);
    }
    return values[static_cast<size_t>(source.root())];
  }

  absl::StatusOr<Value> CopyInstruction(const Computation& source,
                                        const Instruction& instruction,
                                        const Value* argument,
                                        const std::string& suffix,
                                        const std::vector<Value>& values) {
    const auto operand = [&](size_t i) -> const Value& {
      return values[static_cast<size_t>(instruction.operand(i))];
    };
    if (argument != nullptr && instruction.opcode() == Opcode::kParameter) {
      return *argument;
    }
    if (argument != nullptr && instruction.IsConstant()) {
      return CopyConstant(source, instruction);
    }
    if (instruction.opcode() == Opcode::kGetTupleElement) {
      return Value{.id = Element(operand(0), instruction)};
    }
    if (IsUnrolled(instruction)) {
      const auto trips = static_cast<int64_t>(hlo::KnownTripCount(instruction));
      const Computation& body = module_.computation(instruction.called()[1]);
      Value state = operand(0);
      for (int64_t i = 0; i < trips; ++i) {
        HONE_ASSIGN_OR_RETURN(state,
                              Copy(body, &state, absl::StrCat(suffix, ".", i)));
      }
      return state;
    }
    std::vector<InstructionId> operands;
    operands.reserve(instruction.operand_count());
    for (size_t i = 0; i < instruction.operand_count(); ++i) {
      operands.push_back(
          AsInstruction(operand(i), source[instruction.operand(i)]));
    }
    if (instruction.opcode() == Opcode::kTuple) {
      return Value{.tuple = std::make_shared<Tuple>(
                       Tuple{.elements = std::move(operands)})};
    }
    Instruction copy = instruction.WithOperands(operands);
    copy.set_name(absl::StrCat(NameOf(instruction), suffix));
    return Value{.id = Add(std::move(copy))};
  }

  static absl::string_view NameOf(const Instruction& instruction) {
    if (!instruction.name().empty()) return instruction.name();
    return instruction.unknown_opcode() != nullptr
               ? absl::string_view(*instruction.unknown_opcode())
               : hlo::OpcodeName(instruction.opcode());
  }

  Value CopyConstant(const Computation& source, const Instruction& constant) {
    const auto [it, is_new] =
        constants_.try_emplace(std::pair(source.id(), constant.id()));
    if (is_new) {
      it->second = Add(constant.WithOperands({}));
    }
    return Value{.id = it->second};
  }

  // The element of `tuple` that a get-tuple-element of the source reads.
  InstructionId Element(const Value& tuple, const Instruction& reader) {
    const auto index = static_cast<size_t>(reader.index());
    if (tuple.tuple != nullptr) return tuple.tuple->elements[index];
    if (target_[tuple.id].opcode() == Opcode::kTuple) {
      return target_[tuple.id].operand(index);
    }
    const auto [it, is_new] =
        elements_.try_emplace(std::pair(tuple.id, reader.index()));
    if (is_new) {
      it->second = Add(reader.WithOperands({tuple.id}));
    }
    return it->second;
  }

  // The instruction of the target that makes a value, which `original` makes in
  // the source.
  InstructionId AsInstruction(const Value& value, const Instruction& original) {
    if (value.tuple == nullptr) return value.id;
    Tuple& tuple = *value.tuple;
    if (tuple.id == kNoInstruction) {
      tuple.id = Add(
          Instruction(Opcode::kTuple, original.shape_ptr(), tuple.elements));
    }
    return tuple.id;
  }

  InstructionId Add(Instruction instruction) {
    const bool does_work = DoesWork(instruction.opcode());
    const InstructionId id = target_.AddInstruction(std::move(instruction));
    if (does_work) work_.push_back(id);
    return id;
  }

  // The instructions of the target from `begin` on that do work.
  std::vector<InstructionId> WorkSince(InstructionId begin) const {
    return {std::lower_bound(work_.begin(), work_.end(), begin), work_.end()};
  }

  // Lets each of `after` wait for each of `before`.
  absl::Status Order(const std::vector<InstructionId>& before,
                     const std::vector<InstructionId>& after) {
    HONE_RETURN_IF_ERROR(CountControlEdges(before.size() * after.size()));
    for (const InstructionId id : after) {
      for (const InstructionId source : before) {
        target_.AddControlPredecessor(id, source);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CountControlEdges(size_t count) {
    control_edges_ += static_cast<int64_t>(count);
    if (control_edges_ <= kMaxControlEdges) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrFormat(
        "unrolled loops have more than %d control dependences, expected fewer",
        kMaxControlEdges));
  }

  const Module& module_;
  // By computation.
  std::vector<Size> sizes_;
  std::vector<std::vector<InstructionId>> orders_;

  Computation target_;
  absl::flat_hash_map<std::pair<ComputationId, InstructionId>, InstructionId>
      constants_;
  absl::flat_hash_map<std::pair<InstructionId, int32_t>, InstructionId>
      elements_;
  // Instructions of the target that do work, by id.
  std::vector<InstructionId> work_;
  int64_t control_edges_ = 0;
};

}  // namespace

absl::StatusOr<Module> UnrollLoops(const Module& module, int64_t max_nodes) {
  Unroller unroller(module);
  HONE_RETURN_IF_ERROR(unroller.CheckSize(max_nodes));
  return unroller.Unroll();
}

}  // namespace hone::graphs

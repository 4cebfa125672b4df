#include "hlo/inference/verifier.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/inference/aliases.h"
#include "hlo/inference/annotations.h"
#include "hlo/inference/internal.h"
#include "hlo/inference/shape_inference.h"

namespace hone::hlo {
namespace {

size_t Index(int32_t id) { return static_cast<size_t>(id); }

// Tuple shapes may share parts, so a short text can stand for an exponentially
// large tuple; code that walks one relies on this bound.
constexpr int64_t kMaxShapeParts = int64_t{1} << 24;

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  // Each step relies on what the ones before it have checked.
  absl::Status Verify() {
    HONE_RETURN_IF_ERROR(VerifyEntry());
    HONE_RETURN_IF_ERROR(ReadCounts());
    HONE_RETURN_IF_ERROR(VerifyCalls());
    HONE_RETURN_IF_ERROR(VerifyCallGraph());
    for (const Computation& c : module_.computations()) {
      HONE_RETURN_IF_ERROR(VerifyShapesAndLiterals(c));
      HONE_RETURN_IF_ERROR(VerifyEdges(c));
      HONE_RETURN_IF_ERROR(VerifyAcyclic(c));
      HONE_RETURN_IF_ERROR(VerifyParameters(c));
      HONE_RETURN_IF_ERROR(VerifyNames(c));
    }
    // Needs parameters and roots of every callee.
    for (const Computation& c : module_.computations()) {
      HONE_RETURN_IF_ERROR(VerifyInferredShapes(c));
      HONE_RETURN_IF_ERROR(VerifyAnnotations(c));
    }
    HONE_RETURN_IF_ERROR(VerifyEntryShapes());
    return inference::VerifyAliases(module_);
  }

 private:
  template <typename... Parts>
  static absl::Status Error(const Computation& c, const Parts&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", c.name(), ": ", what...));
  }

  template <typename... Parts>
  static absl::Status Error(const Computation& c, InstructionId id,
                            const Parts&... what) {
    std::string name = c[id].name();
    if (name.empty()) name = absl::StrCat("#", id);
    return absl::InvalidArgumentError(absl::StrCat(
        "computation ", c.name(), ", instruction ", name, ": ", what...));
  }

  absl::Status VerifyEntry() {
    const ComputationId entry = module_.entry();
    if (!module_.Contains(entry)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "module ", module_.name(), ": no entry computation, expected one"));
    }
    absl::flat_hash_set<absl::string_view> names;
    for (const Computation& c : module_.computations()) {
      if (!names.insert(c.name()).second) {
        return Error(c, "duplicate name, expected unique computation names");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadCounts() {
    HONE_RETURN_IF_ERROR(
        inference::HeaderCount(module_, "replica_count").status());
    HONE_ASSIGN_OR_RETURN(partitions_,
                          inference::HeaderCount(module_, "num_partitions"));
    return absl::OkStatus();
  }

  absl::Status VerifyCalls() {
    for (const Computation& c : module_.computations()) {
      for (const Instruction& instruction : c.instructions()) {
        const InstructionId i = instruction.id();
        for (ComputationId callee : instruction.called()) {
          if (!module_.Contains(callee)) {
            return Error(c, i, "calls computation ", callee,
                         ", expected one of the module");
          }
        }
        if (!instruction.called().empty() &&
            IsElementwise(instruction.opcode())) {
          return Error(c, i, "calls a computation, expected none of ",
                       OpcodeName(instruction.opcode()));
        }
      }
    }
    return absl::OkStatus();
  }

  // In a post-order every callee stands before its callers unless calls form a
  // cycle.
  absl::Status VerifyCallGraph() {
    std::vector<int64_t> position(Index(module_.computation_slots()), -1);
    const std::vector<ComputationId> order = module_.ComputationPostOrder();
    for (size_t k = 0; k < order.size(); ++k) {
      position[Index(order[k])] = static_cast<int64_t>(k);
    }
    for (ComputationId id : order) {
      const Computation& c = module_.computation(id);
      for (const Instruction& instruction : c.instructions()) {
        const InstructionId i = instruction.id();
        for (ComputationId callee : instruction.called()) {
          if (position[Index(callee)] >= position[Index(id)]) {
            return Error(c, i, "calls ", module_.computation(callee).name(),
                         " recursively, expected an acyclic call graph");
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyShapesAndLiterals(const Computation& c) {
    for (const Instruction& instruction : c.instructions()) {
      const InstructionId i = instruction.id();
      if (instruction.shape_ptr() == nullptr) {
        return Error(c, i, "no shape, expected one");
      }
      HONE_RETURN_IF_ERROR(VerifyShape(c, i, instruction.shape_ptr()));
      const LiteralPtr& literal = instruction.literal();
      if (instruction.IsConstant() != (literal != nullptr)) {
        return Error(c, i,
                     literal == nullptr ? "constant without a literal"
                                        : "literal of a non-constant",
                     ", expected constants alone to have one");
      }
      if (literal != nullptr &&
          !inference::Compatible(literal->shape(), instruction.shape())) {
        return Error(c, i, "literal is ", literal->shape().ToString(),
                     ", expected ", instruction.shape().ToString());
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyShape(const Computation& c, InstructionId i,
                           const ShapePtr& shape) {
    // Shapes are shared by many instructions: each object is checked once.
    if (!valid_shapes_.insert(shape.get()).second) return absl::OkStatus();
    if (shape->IsTuple() && PartsOf(shape.get()) > kMaxShapeParts) {
      return Error(c, i, "tuple of too many parts, expected at most ",
                   kMaxShapeParts);
    }
    if (absl::Status status = ValidateShape(*shape); !status.ok()) {
      return Error(c, i, status.message());
    }
    return absl::OkStatus();
  }

  // Arrays and tuples within a shape, saturated.
  int64_t PartsOf(const Shape* shape) {
    if (shape->tuple_elements().empty()) return 1;
    if (auto it = parts_.find(shape); it != parts_.end()) return it->second;
    int64_t parts = 1;
    for (const ShapePtr& element : shape->tuple_elements()) {
      if (element != nullptr) parts += PartsOf(element.get());
      if (parts > kMaxShapeParts) break;
    }
    parts_.emplace(shape, parts);
    return parts;
  }

  // Operands, users and control predecessors.
  absl::Status VerifyEdges(const Computation& c) {
    const size_t slots = Index(c.slot_count());
    // operands_by_users lists, per user u, the instructions that say u uses
    // them: entries [start[u], start[u+1]).
    std::vector<size_t> start(slots + 1, 0);
    for (const Instruction& instruction : c.instructions()) {
      const InstructionId i = instruction.id();
      for (InstructionId operand : c[i].operands()) {
        if (!c.Contains(operand)) {
          return Error(c, i, "operand id ", operand,
                       ", expected an instruction of the computation");
        }
      }
      for (InstructionId predecessor : c.control_predecessors(i)) {
        if (!c.Contains(predecessor)) {
          return Error(c, i, "control predecessor id ", predecessor,
                       ", expected an instruction of the computation");
        }
      }
      for (InstructionId user : c[i].users()) {
        if (!c.Contains(user)) {
          return Error(c, i, "user id ", user,
                       ", expected an instruction of the computation");
        }
        ++start[Index(user) + 1];
      }
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<InstructionId> operands_by_users(start[slots]);
    std::vector<size_t> next(start.begin(), start.end() - 1);
    for (const Instruction& instruction : c.instructions()) {
      for (InstructionId user : instruction.users()) {
        operands_by_users[next[Index(user)]++] = instruction.id();
      }
    }
    // seen[o] is the user that was last seen to have o among its operands, then
    // ~user (negative, so never another user's id) once o has been seen to list
    // that user.
    std::vector<InstructionId> seen(slots, INT32_MIN);
    constexpr absl::string_view kExpected =
        ", expected operands and users to agree";
    for (const Instruction& instruction : c.instructions()) {
      const InstructionId u = instruction.id();
      size_t distinct = 0;
      for (InstructionId operand : c[u].operands()) {
        if (seen[Index(operand)] != u) ++distinct;
        seen[Index(operand)] = u;
      }
      for (size_t k = start[Index(u)]; k < start[Index(u) + 1]; ++k) {
        const InstructionId operand = operands_by_users[k];
        if (seen[Index(operand)] != u) {
          return Error(c, u,
                       seen[Index(operand)] == ~u ? "listed twice" : "listed",
                       " as a user of ", c[operand].name(), kExpected);
        }
        seen[Index(operand)] = ~u;
        --distinct;
      }
      if (distinct != 0) {
        return Error(c, u, "not listed as a user of ", distinct, " operands",
                     kExpected);
      }
    }
    return absl::OkStatus();
  }

  // In a post-order every operand stands before its users unless they form a
  // cycle.
  absl::Status VerifyAcyclic(const Computation& c) {
    bool in_slot_order = true;
    const auto for_each_edge = [&c](InstructionId i, auto&& visit) {
      for (InstructionId operand : c[i].operands()) visit(operand);
      for (InstructionId before : c.control_predecessors(i)) visit(before);
    };
    for (const Instruction& instruction : c.instructions()) {
      const InstructionId i = instruction.id();
      for_each_edge(
          i, [&](InstructionId j) { in_slot_order = in_slot_order && j < i; });
      if (!in_slot_order) break;
    }
    if (in_slot_order) return absl::OkStatus();
    const std::vector<InstructionId> order = c.PostOrder();
    std::vector<int64_t> position(Index(c.slot_count()), -1);
    for (size_t k = 0; k < order.size(); ++k) {
      position[Index(order[k])] = static_cast<int64_t>(k);
    }
    for (InstructionId i : order) {
      bool acyclic = true;
      for_each_edge(i, [&](InstructionId j) {
        acyclic = acyclic && position[Index(j)] < position[Index(i)];
      });
      if (!acyclic) {
        return Error(c, i, "depends on itself, expected an acyclic graph");
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyParameters(const Computation& c) {
    if (!c.Contains(c.root())) {
      return Error(c, "root id ", c.root(),
                   ", expected an instruction of the computation");
    }
    int64_t live = 0;
    for (const Instruction& instruction : c.instructions()) {
      const InstructionId i = instruction.id();
      ++live;
      if (c[i].opcode() != Opcode::kParameter) continue;
      const size_t number = static_cast<size_t>(c[i].index());
      if (number >= c.parameters().size() || c.parameters()[number] != i) {
        return Error(c, i, "parameter number ", c[i].index(),
                     ", expected one that no other parameter has");
      }
    }
    for (size_t n = 0; n < c.parameters().size(); ++n) {
      const InstructionId id = c.parameters()[n];
      if (!c.Contains(id) || c[id].opcode() != Opcode::kParameter ||
          c[id].index() != static_cast<int64_t>(n)) {
        return Error(c, "no parameter ", n, ", expected ",
                     c.parameters().size(), " parameters");
      }
    }
    if (live != c.live_count()) {
      return Error(c, live, " live instructions, expected ", c.live_count());
    }
    return absl::OkStatus();
  }

  absl::Status VerifyNames(const Computation& c) {
    absl::flat_hash_set<absl::string_view> names;
    names.reserve(static_cast<size_t>(c.live_count()));
    for (const Instruction& instruction : c.instructions()) {
      const std::string& name = instruction.name();
      if (!name.empty() && !names.insert(name).second) {
        return Error(c, instruction.id(),
                     "duplicate name, expected unique names");
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyInferredShapes(const Computation& c) {
    for (const Instruction& instruction : c.instructions()) {
      const InstructionId i = instruction.id();
      absl::StatusOr<ShapePtr> inferred = InferShape(module_, c, c[i]);
      if (!inferred.ok()) return Error(c, i, inferred.status().message());
      if (*inferred == nullptr || *inferred == c[i].shape_ptr()) continue;
      // InferShape returns the instruction's own shape wherever that fits.
      return Error(c, i, "shape ", c[i].shape().ToString(), ", expected ",
                   (*inferred)->ToString());
    }
    return absl::OkStatus();
  }

  // Attributes that must fit the shape.
  absl::Status VerifyAnnotations(const Computation& c) {
    for (const Instruction& instruction : c.instructions()) {
      if (instruction.attributes().others.empty()) continue;
      const absl::Status status =
          inference::VerifyAnnotations(instruction, partitions_);
      if (!status.ok()) return Error(c, instruction.id(), status.message());
    }
    return absl::OkStatus();
  }

  absl::Status VerifyEntryShapes() {
    const Computation& entry = module_.entry_computation();
    const std::vector<ShapePtr>& shapes = module_.entry_parameter_shapes();
    if (shapes.size() != entry.parameters().size()) {
      return Error(entry, "layout of ", shapes.size(), " parameters, expected ",
                   entry.parameters().size());
    }
    for (size_t n = 0; n < shapes.size(); ++n) {
      const InstructionId id = entry.parameters()[n];
      if (shapes[n] == nullptr ||
          !inference::Compatible(*shapes[n], entry[id].shape())) {
        return Error(entry, id, "entry layout is ", ToString(shapes[n]),
                     ", expected ", entry[id].shape().ToString());
      }
      HONE_RETURN_IF_ERROR(VerifyShape(entry, id, shapes[n]));
    }
    const ShapePtr& result = module_.entry_result_shape();
    const InstructionId root = entry.root();
    if (result == nullptr ||
        !inference::Compatible(*result, entry[root].shape())) {
      return Error(entry, root, "entry layout is ", ToString(result),
                   ", expected ", entry[root].shape().ToString());
    }
    return VerifyShape(entry, root, result);
  }

  static std::string ToString(const ShapePtr& shape) {
    return shape == nullptr ? "missing" : shape->ToString();
  }

  const Module& module_;
  int64_t partitions_ = 1;
  absl::flat_hash_set<const Shape*> valid_shapes_;
  absl::flat_hash_map<const Shape*, int64_t> parts_;
};

}  // namespace

absl::Status VerifyModule(const Module& module) {
  return Verifier(module).Verify();
}

}  // namespace hone::hlo

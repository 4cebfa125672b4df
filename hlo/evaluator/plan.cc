#include "hlo/evaluator/plan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "hlo/evaluator/coverage.h"

namespace hone::hlo::evaluator {
namespace {

// Keeps a program's registers within the second-level cache.
constexpr int kMaxGroupSize = 24;

bool IsFusible(const Instruction& instruction) {
  return IsElementwise(instruction.opcode()) &&
         instruction.opcode() != Opcode::kReducePrecision &&
         instruction.opcode() != Opcode::kCopy &&
         instruction.operand_count() > 0 && instruction.shape().IsArray() &&
         !(instruction.opcode() == Opcode::kBitcastConvert &&
           instruction.operand_count() == 1 && instruction.shape().rank() > 0);
}

bool IsScalarBroadcast(const Computation& computation,
                       const Instruction& instruction) {
  return instruction.opcode() == Opcode::kBroadcast &&
         computation[instruction.operand(0)].shape().num_elements() == 1;
}

class Planner {
 public:
  Planner(const Computation& computation, const PlanOptions& options)
      : computation_(computation), options_(options), order_(Order()) {
    const size_t slots = static_cast<size_t>(computation.slot_count());
    group_.assign(slots, kNoInstruction);
    group_size_.assign(slots, 0);
    inlined_.assign(slots, false);
    decides_.assign(slots, false);
    stands_alone_.assign(slots, false);
    if (!options.observes_predicates) return;
    for (InstructionId id : DecidingPredicates(computation)) {
      decides_[At(id)] = true;
      stands_alone_[At(id)] = true;
    }
    for (const Instruction& instruction : computation.instructions()) {
      if (BoundariesOf(computation, instruction).empty()) continue;
      stands_alone_[At(instruction.id())] = true;
      for (InstructionId operand : instruction.operands()) {
        stands_alone_[At(operand)] = true;
      }
    }
  }

  Plan Make() {
    ChooseGroups();
    absl::flat_hash_map<InstructionId, std::vector<InstructionId>> members;
    for (InstructionId id : order_) {
      const InstructionId root = group_[At(id)];
      if (root != kNoInstruction) members[root].push_back(id);
    }
    Plan plan;
    for (InstructionId id : order_) {
      if (inlined_[At(id)]) continue;
      const InstructionId root = group_[At(id)];
      if (root != kNoInstruction && root != id) continue;
      std::optional<Plan::Step> step;
      if (root == id) step = Compile(id, members[id]);
      if (step) {
        plan.steps.push_back(*std::move(step));
        continue;
      }
      // An opcode without a kernel: evaluate the members one by one, which
      // reports the one that cannot be.
      if (root == id) {
        for (InstructionId member : members[id]) {
          AddPlain(member, plan);
        }
      } else {
        AddPlain(id, plan);
      }
    }
    if (options_.takes_outputs) TakeOutputs(plan);
    MarkLastUses(plan);
    for (Plan::Step& step : plan.steps) step.decides = decides_[At(step.id)];
    if (options_.observes_predicates) {
      for (Plan::Step& step : plan.steps) AddBoundaries(step);
    }
    return plan;
  }

 private:
  static size_t At(InstructionId id) { return static_cast<size_t>(id); }

  // Post-order of what the root needs, but elements are taken out of a tuple as
  // soon as it exists: once the tuple is gone, each element can be overwritten
  // after its last use.
  std::vector<InstructionId> Order() const {
    const std::vector<InstructionId> post_order = computation_.PostOrder();
    std::vector<bool> needed(static_cast<size_t>(computation_.slot_count()));
    needed[At(computation_.root())] = true;
    for (auto it = post_order.rbegin(); it != post_order.rend(); ++it) {
      if (!needed[At(*it)]) continue;
      for (InstructionId operand : computation_[*it].operands()) {
        needed[At(operand)] = true;
      }
    }
    std::vector<InstructionId> order;
    for (InstructionId id : post_order) {
      if (computation_[id].opcode() == Opcode::kGetTupleElement) continue;
      AddWithElements(id, needed, order);
    }
    return order;
  }

  void AddWithElements(InstructionId id, const std::vector<bool>& needed,
                       std::vector<InstructionId>& order) const {
    if (!needed[At(id)]) return;
    order.push_back(id);
    if (!computation_[id].shape().IsTuple()) return;
    std::vector<InstructionId> users(computation_[id].users().begin(),
                                     computation_[id].users().end());
    std::sort(users.begin(), users.end());
    for (InstructionId user : users) {
      if (computation_[user].opcode() == Opcode::kGetTupleElement) {
        AddWithElements(user, needed, order);
      }
    }
  }

  // Forms groups from users to producers: an elementwise instruction joins the
  // group of its only user. A broadcast scalar costs a group nothing and needs
  // no array.
  void ChooseGroups() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const InstructionId id = *it;
      const Instruction& instruction = computation_[id];
      if (IsScalarBroadcast(computation_, instruction)) {
        inlined_[At(id)] =
            id != computation_.root() && !instruction.users().empty() &&
            std::all_of(instruction.users().begin(), instruction.users().end(),
                        [&](InstructionId user) {
                          return IsFusible(computation_[user]);
                        });
        continue;
      }
      if (!IsFusible(instruction)) continue;
      InstructionId root = id;
      if (id != computation_.root() && !stands_alone_[At(id)] &&
          instruction.users().size() == 1 &&
          !(options_.stands_alone && options_.stands_alone(instruction))) {
        const InstructionId user = instruction.users()[0];
        const InstructionId user_root = group_[At(user)];
        if (user_root != kNoInstruction &&
            group_size_[At(user_root)] < kMaxGroupSize &&
            computation_[user].shape().dimensions() ==
                instruction.shape().dimensions()) {
          root = user_root;
        }
      }
      group_[At(id)] = root;
      ++group_size_[At(root)];
    }
  }

  std::optional<Plan::Step> Compile(InstructionId root,
                                    const std::vector<InstructionId>& members) {
    Plan::Step step;
    step.id = root;
    auto program = std::make_unique<ElementwiseProgram>();
    absl::flat_hash_map<InstructionId, ElementwiseProgram::Register> registers;
    const auto register_of = [&](InstructionId id) {
      // A broadcast scalar is the scalar itself, as a splat.
      while (inlined_[At(id)]) id = computation_[id].operand(0);
      const auto [it, inserted] = registers.try_emplace(id, 0);
      if (inserted) {
        it->second = program->AddInput(computation_[id].shape().element_type());
        step.inputs.push_back(id);
      }
      return it->second;
    };
    for (InstructionId id : members) {
      std::vector<ElementwiseProgram::Register> operands;
      for (InstructionId operand : computation_[id].operands()) {
        operands.push_back(register_of(operand));
      }
      const std::optional<ElementwiseProgram::Register> result =
          program->AddInstruction(computation_[id], operands);
      if (!result) return std::nullopt;
      registers[id] = *result;
    }
    program->AddOutput(registers[root]);
    step.program = std::move(program);
    return step;
  }

  void AddPlain(InstructionId id, Plan& plan) {
    Plan::Step step;
    step.id = id;
    for (InstructionId operand : computation_[id].operands()) {
      if (inlined_[At(operand)]) {
        inlined_[At(operand)] = false;
        AddPlain(operand, plan);
      }
      step.inputs.push_back(operand);
    }
    plan.steps.push_back(std::move(step));
  }

  // Replaces the step of the root by outputs of others.
  void TakeOutputs(Plan& plan) const {
    plan.steps.pop_back();
    absl::flat_hash_map<InstructionId, std::vector<int64_t>> outputs;
    const InstructionIds& operands =
        computation_[computation_.root()].operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      outputs[operands[i]].push_back(static_cast<int64_t>(i));
    }
    for (Plan::Step& step : plan.steps) {
      const auto it = outputs.find(step.id);
      if (it != outputs.end()) step.outputs = it->second;
    }
  }

  void AddBoundaries(Plan::Step& step) const {
    const Instruction& instruction = computation_[step.id];
    const std::vector<Boundary> boundaries =
        BoundariesOf(computation_, instruction);
    for (size_t i = 0; i < boundaries.size(); ++i) {
      const Boundary& boundary = boundaries[i];
      const std::optional<size_t> value =
          InputOf(step, instruction.operand(boundary.value));
      std::optional<size_t> bound;
      if (boundary.bound) {
        bound = InputOf(step, instruction.operand(*boundary.bound));
      }
      if (!value || (boundary.bound && !bound)) continue;
      step.beside.push_back({i, *value, bound, boundary.constant});
    }
  }

  // The input of a step that is that operand, or the scalar that it repeats.
  std::optional<size_t> InputOf(const Plan::Step& step,
                                InstructionId operand) const {
    for (;;) {
      const auto it =
          std::find(step.inputs.begin(), step.inputs.end(), operand);
      if (it != step.inputs.end()) {
        return static_cast<size_t>(it - step.inputs.begin());
      }
      if (!IsScalarBroadcast(computation_, computation_[operand])) {
        return std::nullopt;
      }
      operand = computation_[operand].operand(0);
    }
  }

  void MarkLastUses(Plan& plan) const {
    std::vector<bool> used(static_cast<size_t>(computation_.slot_count()));
    used[At(computation_.root())] = true;
    for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
      step->is_only_output = !step->outputs.empty() && !used[At(step->id)];
      step->last_use.assign(step->inputs.size(), false);
      for (size_t i = step->inputs.size(); i-- > 0;) {
        const size_t input = At(step->inputs[i]);
        step->last_use[i] = !used[input];
        used[input] = true;
      }
    }
  }

  const Computation& computation_;
  const PlanOptions& options_;
  const std::vector<InstructionId> order_;
  // The last instruction of the group that each instruction belongs to.
  std::vector<InstructionId> group_;
  std::vector<int> group_size_;
  // Broadcast scalars that exist only as inputs of programs.
  std::vector<bool> inlined_;
  // Deciding predicates that are observed.
  std::vector<bool> decides_;
  // Instructions that do not join the group of their user, as their value is
  // observed.
  std::vector<bool> stands_alone_;
};

}  // namespace

Plan MakePlan(const Computation& computation, const PlanOptions& options) {
  return Planner(computation, options).Make();
}

}  // namespace hone::hlo::evaluator

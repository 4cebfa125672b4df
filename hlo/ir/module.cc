#include "hlo/ir/module.h"

#include <atomic>

namespace hone::hlo {
namespace {

// Opcodes that neither have an effect nor call a computation, as most regions
// of reductions consist of.
const OpcodeSet& PlainOpcodes() {
  static const OpcodeSet plain = [] {
    OpcodeSet opcodes = {Opcode::kBroadcast, Opcode::kConstant,
                         Opcode::kGetTupleElement, Opcode::kParameter,
                         Opcode::kTuple};
    for (int i = 0; i < kOpcodeCount; ++i) {
      const auto opcode = static_cast<Opcode>(i);
      if (IsElementwise(opcode) && !IsOpaque(opcode)) opcodes.Insert(opcode);
    }
    return opcodes;
  }();
  return plain;
}

}  // namespace

Computation& Module::mutable_computation(ComputationId id) {
  std::shared_ptr<const Computation> replaced;
  return mutable_computation(id, &replaced);
}

Computation& Module::mutable_computation(
    ComputationId id, std::shared_ptr<const Computation>* replaced) {
  std::shared_ptr<Computation>& pointer =
      computations_[static_cast<size_t>(id)];
  if (pointer.use_count() != 1) {
    *replaced = pointer;
    pointer = std::make_shared<Computation>(**replaced);
  } else {
    // Pairs with the release of the last other owner's reference, so that its
    // reads come before our writes.
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  return *pointer;
}

void Module::ShareComputation(ComputationId id,
                              std::shared_ptr<const Computation> computation) {
  // Nothing changes a computation that more than one module holds.
  computations_[static_cast<size_t>(id)] =
      std::const_pointer_cast<Computation>(std::move(computation));
}

bool Module::SharesComputation(const Module& a, const Module& b,
                               ComputationId id) {
  const size_t i = static_cast<size_t>(id);
  return i < a.computations_.size() && i < b.computations_.size() &&
         a.computations_[i] == b.computations_[i];
}

ComputationId Module::AddComputation(Computation computation) {
  const ComputationId id = computation_slots();
  computation.id_ = id;
  computations_.push_back(
      std::make_shared<Computation>(std::move(computation)));
  return id;
}

std::vector<ComputationId> Module::ComputationIds() const {
  std::vector<ComputationId> ids;
  for (const Computation& c : computations()) ids.push_back(c.id());
  return ids;
}

bool Module::RemoveUnreachableComputations() {
  std::vector<bool> reached(computations_.size(), false);
  std::vector<ComputationId> worklist = {entry_};
  reached[static_cast<size_t>(entry_)] = true;
  while (!worklist.empty()) {
    const Computation& c = computation(worklist.back());
    worklist.pop_back();
    for (InstructionId i = 0; i < c.slot_count(); ++i) {
      for (ComputationId callee : c[i].called()) {
        if (reached[static_cast<size_t>(callee)]) continue;
        reached[static_cast<size_t>(callee)] = true;
        worklist.push_back(callee);
      }
    }
  }
  bool changed = false;
  for (size_t i = 0; i < computations_.size(); ++i) {
    if (reached[i] || computations_[i] == nullptr) continue;
    computations_[i] = nullptr;
    changed = true;
  }
  return changed;
}

std::vector<ComputationId> Module::ComputationPostOrder() const {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(computations_.size(), kNew);
  // The callees of each computation, gathered once per visit.
  struct Frame {
    ComputationId id;
    std::vector<ComputationId> callees;
    size_t next = 0;
  };
  auto callees_of = [&](ComputationId id) {
    std::vector<ComputationId> callees;
    const Computation& c = computation(id);
    for (InstructionId i = 0; i < c.slot_count(); ++i) {
      if (!c[i].is_live()) continue;
      for (ComputationId callee : c[i].called()) callees.push_back(callee);
    }
    return callees;
  };
  std::vector<ComputationId> order;
  std::vector<Frame> stack;
  for (ComputationId start = 0; start < computation_slots(); ++start) {
    if (!has_computation(start) || state[static_cast<size_t>(start)] != kNew) {
      continue;
    }
    state[static_cast<size_t>(start)] = kOpen;
    stack.push_back({start, callees_of(start)});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      ComputationId next = kNoComputation;
      while (frame.next < frame.callees.size()) {
        const ComputationId callee = frame.callees[frame.next++];
        if (state[static_cast<size_t>(callee)] == kNew) {
          next = callee;
          break;
        }
      }
      if (next != kNoComputation) {
        state[static_cast<size_t>(next)] = kOpen;
        stack.push_back({next, callees_of(next)});
        continue;
      }
      state[static_cast<size_t>(frame.id)] = kDone;
      order.push_back(frame.id);
      stack.pop_back();
    }
  }
  return order;
}

int64_t Module::instruction_count() const {
  int64_t count = 0;
  for (const auto& computation : computations_) {
    if (computation != nullptr) count += computation->live_count();
  }
  return count;
}

bool Module::HasSideEffect(const Instruction& instruction) const {
  if (IsOpaque(instruction.opcode())) return true;
  if (instruction.called().empty()) return false;
  hlo::ComputationIds worklist(instruction.called());
  std::vector<bool> seen;
  while (!worklist.empty()) {
    const ComputationId id = worklist.back();
    worklist.pop_back();
    const Computation& c = computation(id);
    if (c.opcodes().IsSubsetOf(PlainOpcodes())) continue;
    if (seen.empty()) seen.resize(computations_.size(), false);
    if (seen[static_cast<size_t>(id)]) continue;
    seen[static_cast<size_t>(id)] = true;
    for (InstructionId i = 0; i < c.slot_count(); ++i) {
      if (!c[i].is_live()) continue;
      if (IsOpaque(c[i].opcode())) return true;
      worklist.insert(worklist.end(), c[i].called().begin(),
                      c[i].called().end());
    }
  }
  return false;
}

}  // namespace hone::hlo

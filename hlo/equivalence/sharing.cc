#include "hlo/equivalence/sharing.h"

#include "base/check.h"

namespace hone::hlo {
namespace {

// Marks what the roots on `open` depend on.
void Mark(const Computation& computation, std::vector<InstructionId> open,
          int mark, std::vector<int>& marks) {
  while (!open.empty()) {
    const InstructionId id = open.back();
    open.pop_back();
    int& own = marks[static_cast<size_t>(id)];
    if ((own & mark) != 0) continue;
    own |= mark;
    const auto operands = computation[id].operands();
    open.insert(open.end(), operands.begin(), operands.end());
  }
}

}  // namespace

Sharing::Sharing(const Module& merged)
    : entry_(merged.entry()),
      users_(static_cast<size_t>(merged.entry_computation().slot_count())),
      called_for_one_(static_cast<size_t>(merged.computation_slots())) {
  const Computation& entry = merged.entry_computation();
  const Instruction& root = entry[entry.root()];
  HONE_CHECK(root.opcode() == Opcode::kTuple && root.operand_count() % 2 == 0);
  std::vector<InstructionId> of_a;
  std::vector<InstructionId> of_b;
  for (size_t i = 0; i < root.operand_count(); i += 2) {
    of_a.push_back(root.operand(i));
    of_b.push_back(root.operand(i + 1));
    if (of_a.back() != of_b.back()) {
      differing_.emplace_back(of_a.back(), of_b.back());
    }
  }
  Mark(entry, std::move(of_a), kA, users_);
  Mark(entry, std::move(of_b), kB, users_);

  std::vector<ComputationId> open;
  const auto add = [&](const Instruction& site) {
    open.insert(open.end(), site.called().begin(), site.called().end());
  };
  for (const Instruction& site : entry.instructions()) {
    if (IsOfOne(entry_, site.id())) add(site);
  }
  while (!open.empty()) {
    const auto id = static_cast<size_t>(open.back());
    open.pop_back();
    if (called_for_one_[id]) continue;
    called_for_one_[id] = true;
    for (const Instruction& site :
         merged.computation(static_cast<ComputationId>(id)).instructions()) {
      add(site);
    }
  }
}

bool Sharing::IsOfOne(ComputationId computation, InstructionId id) const {
  if (computation != entry_) {
    return called_for_one_[static_cast<size_t>(computation)];
  }
  return IsOfAAlone(id) || IsOfBAlone(id);
}

std::vector<bool> NeededBy(const Computation& computation, InstructionId root) {
  std::vector<int> marks(static_cast<size_t>(computation.slot_count()));
  Mark(computation, {root}, 1, marks);
  return {marks.begin(), marks.end()};
}

}  // namespace hone::hlo

#include "costmodels/xla_cpu_kernels.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"

#include "costmodels/xla_cpu_library.h"
#include "costmodels/xla_cpu_rules.h"
#include "hlo/ir/id_map.h"

namespace hone::costmodels {
namespace {

using hlo::Computation;
using hlo::IdMap;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::InstructionIds;
using hlo::Module;
using hlo::Opcode;

constexpr int32_t kNoGroup = -1;

// Calls of a kernel's code that an index may lead to before fusion stops.
constexpr int64_t kAllowedCodeDuplication = 15;
constexpr int kMaxReductions = 5;

// A group while it grows.
struct Group {
  XlaCpuKernelKind kind = XlaCpuKernelKind::kSingle;
  InstructionId root = hlo::kNoInstruction;
  std::vector<InstructionId> members = {};
  int reductions = 0;
  // Instructions outside that members read, each once.
  InstructionIds operands = {};
  // Operands of which elements are read more than once.
  InstructionIds reused = {};
};

// How a growing loop asks for the elements of an instruction.
struct Usage {
  int32_t group = kNoGroup;
  int64_t emitted = 0;
  // Members that ask with an index of their own.
  InstructionIds indexing_users = {};
};

class Grouper {
 public:
  Grouper(const Module& module, const Computation& computation)
      : module_(module), computation_(computation) {
    order_ = computation.PostOrder();
    for (size_t i = 0; i < order_.size(); ++i) {
      position_[order_[i]] = static_cast<int32_t>(i);
    }
  }

  std::vector<XlaCpuKernel> Run() {
    MakeLibraryGroups();
    FindNotDuplicable();
    for (size_t i = order_.size(); i-- > 0;) {
      const InstructionId id = order_[i];
      if (dead_.at(id)) continue;
      if (library_.at(id) != kNoGroup) continue;
      GrowLoop(id);
    }
    std::vector<XlaCpuKernel> kernels;
    kernels.reserve(groups_.size());
    for (Group& group : groups_) {
      if (group.members.size() == 1 &&
          DoesNothing(computation_[group.root].opcode())) {
        continue;
      }
      kernels.push_back({group.kind, group.root, std::move(group.members)});
    }
    return kernels;
  }

 private:
  const Instruction& Get(InstructionId id) const { return computation_[id]; }

  // Library calls.

  void MakeLibraryGroups() {
    for (size_t i = order_.size(); i-- > 0;) {
      const InstructionId id = order_[i];
      if (library_.at(id) != kNoGroup) continue;
      if (!StartsLibraryCall(module_, computation_, Get(id))) continue;
      const auto index = static_cast<int32_t>(groups_.size());
      groups_.push_back({.kind = XlaCpuKernelKind::kLibrary, .members = {id}});
      library_[id] = index;
      if (!IsProduct(Get(id))) GrowLibraryCall(index);
      Group& group = groups_.back();
      SortUsersFirst(group.members);
      group.root = group.members.front();
    }
  }

  template <typename Ids>
  void SortUsersFirst(Ids& ids) const {
    absl::c_sort(ids, [&](InstructionId a, InstructionId b) {
      return position_.at(a) > position_.at(b);
    });
  }

  // Returns true for what XLA calls the library for alone.
  bool IsProduct(const Instruction& instruction) const {
    return instruction.opcode() == Opcode::kDot ||
           (instruction.opcode() == Opcode::kConvolution &&
            IsPointwise(computation_, instruction));
  }

  // Takes in neighbors until nothing changes: users below, operands above.
  void GrowLibraryCall(int32_t index) {
    for (bool changed = true; changed;) {
      changed = false;
      // members grows in the loop.
      for (size_t i = 0; i < groups_.back().members.size(); ++i) {
        changed |= TakeInNeighbors(index, groups_.back().members[i]);
      }
    }
  }

  bool TakeInNeighbors(int32_t index, InstructionId id) {
    bool changed = false;
    for (InstructionId operand : Get(id).operands()) {
      if (library_.at(operand) != kNoGroup || operand == computation_.root()) {
        continue;
      }
      const bool inside = absl::c_all_of(
          Get(operand).users(),
          [&](InstructionId user) { return library_.at(user) == index; });
      if (inside && Takes(operand)) changed |= Add(index, operand);
    }
    const InstructionIds& users = Get(id).users();
    if (users.size() != 1 || id == computation_.root()) return changed;
    const InstructionId user = users.front();
    if (library_.at(user) != kNoGroup || !Takes(user)) return changed;
    return Add(index, user);
  }

  bool Takes(InstructionId id) const {
    return LibraryCallTakes(module_, computation_, Get(id));
  }

  bool Add(int32_t index, InstructionId id) {
    library_[id] = index;
    groups_.back().members.push_back(id);
    return true;
  }

  // Loop fusion.

  // Marks the instructions that may not be recomputed: those that read more
  // than they write from more than one large operand, unless every user can
  // take them in.
  void FindNotDuplicable() {
    for (size_t i = order_.size(); i-- > 0;) {
      const Instruction& producer = Get(order_[i]);
      if (EffectivelyUnary(computation_, producer)) continue;
      if (UniqueOperandElements(computation_, producer) <=
          LeafElements(producer.shape())) {
        continue;
      }
      not_duplicable_[producer.id()] =
          !IsFusible(producer) ||
          !absl::c_all_of(producer.users(), [&](InstructionId user) {
            return FusesOnAllPaths(producer, Get(user));
          });
    }
  }

  // Considers paths over other users of `producer` only.
  bool FusesOnAllPaths(const Instruction& producer,
                       const Instruction& consumer) {
    if (!IsFusible(consumer) || library_.at(consumer.id()) != kNoGroup) {
      return false;
    }
    for (size_t i = 0; i < consumer.operand_count(); ++i) {
      const InstructionId operand = consumer.operand(i);
      const bool on_path = operand == producer.id() ||
                           absl::c_linear_search(producer.users(), operand);
      if (!on_path) continue;
      if (not_duplicable_.at(operand)) return false;
      if (!StaticallyFuses(Get(operand), consumer, i)) return false;
    }
    return true;
  }

  // The rules between two instructions before anything is fused.
  bool StaticallyFuses(const Instruction& producer, const Instruction& consumer,
                       size_t index) const {
    if (library_.at(producer.id()) != kNoGroup) return false;
    if (!IsLoopFusible(computation_, producer) || IsWideConcatenate(producer) ||
        IsWideConcatenate(consumer)) {
      return false;
    }
    if (IsExpensive(computation_, producer) &&
        (ReusesOperand(computation_, consumer, index) ||
         producer.users().size() > 1)) {
      return false;
    }
    return producer.id() != computation_.root() &&
           producer.opcode() != Opcode::kConstant &&
           IsLoopFusible(computation_, consumer);
  }

  void GrowLoop(InstructionId root) {
    const Instruction& instruction = Get(root);
    const auto index = static_cast<int32_t>(groups_.size());
    groups_.push_back({.root = root, .members = {root}});
    Group& group = groups_.back();
    group.reductions = instruction.opcode() == Opcode::kReduce ? 1 : 0;
    group.kind = IsLoopFusible(computation_, instruction)
                     ? XlaCpuKernelKind::kLoop
                     : XlaCpuKernelKind::kSingle;
    in_groups_[root].push_back(index);
    AddOperands(group, instruction);
    if (group.kind != XlaCpuKernelKind::kLoop || !IsFusible(instruction)) {
      return;
    }
    growing_ = index;
    UsageOf(root).emitted = 1;
    AddIndexingUsers(instruction, root);
    for (bool fused = true; fused;) {
      fused = false;
      SortUsersFirst(group.operands);
      for (InstructionId operand : group.operands) {
        if (!Fuses(group, index, operand)) continue;
        Fuse(group, index, operand);
        fused = true;
        break;
      }
    }
    SortUsersFirst(group.members);
  }

  void AddOperands(Group& group, const Instruction& member) {
    for (size_t i = 0; i < member.operand_count(); ++i) {
      const InstructionId operand = member.operand(i);
      if (!absl::c_linear_search(group.operands, operand)) {
        group.operands.push_back(operand);
      }
    }
    if (group.members.size() > 1) return;
    for (size_t i = 0; i < member.operand_count(); ++i) {
      if (ReusesOperand(computation_, member, i)) AddReused(group, member, i);
    }
  }

  static void AddReused(Group& group, const Instruction& member, size_t i) {
    if (!absl::c_linear_search(group.reused, member.operand(i))) {
      group.reused.push_back(member.operand(i));
    }
  }

  bool Fuses(const Group& group, int32_t index, InstructionId id) {
    const Instruction& producer = Get(id);
    if (!IsFusible(producer) || library_.at(id) != kNoGroup ||
        not_duplicable_.at(id) || id == computation_.root()) {
      return false;
    }
    const bool is_fusion = group.members.size() > 1;
    const Instruction& root = Get(group.root);
    if (!IsLoopFusible(computation_, producer) || IsWideConcatenate(producer) ||
        (!is_fusion && IsWideConcatenate(root))) {
      return false;
    }
    if (producer.opcode() == Opcode::kConstant &&
        (!is_fusion || producer.shape().num_elements() != 1)) {
      return false;
    }
    if (IsExpensive(computation_, producer) &&
        (absl::c_linear_search(group.reused, id) ||
         WouldDuplicate(id, index))) {
      return false;
    }
    if (BreaksInPlaceUpdate(computation_, producer, root)) return false;
    if (is_fusion && producer.opcode() == Opcode::kReduce &&
        group.reductions > kMaxReductions) {
      return false;
    }
    return !is_fusion || !DuplicatesTooMuchCode(producer);
  }

  // Returns true if anything but that group will still use `id`.
  bool WouldDuplicate(InstructionId id, int32_t index) const {
    return absl::c_any_of(Get(id).users(), [&](InstructionId user) {
      const auto& groups = in_groups_.at(user);
      // Without a group, its turn comes later, or it is in a library call.
      return groups.empty() || !(dead_.at(user) || IsRoot(user)) ||
             absl::c_any_of(groups, [&](int32_t g) { return g != index; });
    });
  }

  void Fuse(Group& group, int32_t index, InstructionId id) {
    const Instruction& producer = Get(id);
    group.operands.erase(absl::c_find(group.operands, id));
    const auto reused = absl::c_find(group.reused, id);
    const bool is_reused = reused != group.reused.end();
    if (is_reused) group.reused.erase(reused);
    for (size_t i = 0; i < producer.operand_count(); ++i) {
      if (is_reused || ReusesOperand(computation_, producer, i)) {
        AddReused(group, producer, i);
      }
    }
    group.members.push_back(id);
    group.reductions += producer.opcode() == Opcode::kReduce ? 1 : 0;
    in_groups_[id].push_back(index);
    AddOperands(group, producer);
    UsageOf(id).emitted = EmittedFor(id);
    AddIndexingUsers(producer, group.root);
    dead_[id] = absl::c_all_of(producer.users(), [&](InstructionId user) {
      return (dead_.at(user) || IsRoot(user)) &&
             absl::c_all_of(in_groups_.at(user), [&](int32_t g) {
               return absl::c_linear_search(in_groups_.at(id), g);
             });
    });
  }

  // Returns true if `id` is the root of a loop.
  bool IsRoot(InstructionId id) const {
    return absl::c_any_of(in_groups_.at(id), [&](int32_t g) {
      return groups_[static_cast<size_t>(g)].root == id;
    });
  }

  // How often the code of an instruction is emitted: once for each distinct
  // index with which its users ask for it.

  void AddIndexingUsers(const Instruction& member, InstructionId root) {
    const InstructionIds inherited = UsageOf(member.id()).indexing_users;
    for (InstructionId operand : member.operands()) {
      InstructionIds& users = UsageOf(operand).indexing_users;
      const auto add = [&](InstructionId user) {
        if (!absl::c_linear_search(users, user)) users.push_back(user);
      };
      const bool same_index =
          member.opcode() == Opcode::kTranspose ||
          member.shape().dimensions() == Get(operand).shape().dimensions();
      if (same_index && member.id() != root) {
        for (InstructionId user : inherited) add(user);
      } else {
        add(member.id());
      }
    }
  }

  Usage& UsageOf(InstructionId id) {
    Usage& usage = usage_[id];
    if (usage.group != growing_) usage = {.group = growing_};
    return usage;
  }

  // How often the code of `id` would be emitted.
  int64_t EmittedFor(InstructionId id) {
    int64_t emitted = 0;
    for (InstructionId user : UsageOf(id).indexing_users) {
      emitted += UsageOf(user).emitted;
    }
    return emitted;
  }

  bool DuplicatesTooMuchCode(const Instruction& producer) {
    if (producer.opcode() == Opcode::kBroadcast) return false;
    const int64_t emitted = EmittedFor(producer.id());
    if (emitted > kAllowedCodeDuplication) return true;
    return HasControlFlow(producer.opcode()) &&
           (emitted > 1 || UserCount(producer) > 1);
  }

  // Users as they are now: copies in loops, and what still runs by itself.
  int64_t UserCount(const Instruction& producer) const {
    int64_t count = 0;
    for (InstructionId user : producer.users()) {
      count += static_cast<int64_t>(in_groups_.at(user).size());
      if (!dead_.at(user) && !IsRoot(user)) ++count;
    }
    return count;
  }

  const Module& module_;
  const Computation& computation_;
  std::vector<InstructionId> order_;
  IdMap<int32_t> position_{-1};
  std::vector<Group> groups_;
  // The library call that an instruction belongs to.
  IdMap<int32_t> library_{kNoGroup};
  // The loops that an instruction is in.
  IdMap<absl::InlinedVector<int32_t, 2>> in_groups_;
  IdMap<bool> not_duplicable_;
  // Has been fused into all of its users.
  IdMap<bool> dead_;
  // Of the loop that is growing; what is of other loops counts as empty.
  int32_t growing_ = kNoGroup;
  IdMap<Usage> usage_;
};

}  // namespace

std::vector<XlaCpuKernel> GroupXlaCpuKernels(const Module& module,
                                             const Computation& computation) {
  return Grouper(module, computation).Run();
}

}  // namespace hone::costmodels

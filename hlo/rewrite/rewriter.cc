#include "hlo/rewrite/rewriter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"

#include "hlo/inference/shape_inference.h"
#include "hlo/rewrite/carried_attributes.h"

namespace hone::hlo {
namespace {

// The part of a path that names the file within the repository's folder.
absl::string_view FileName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

}  // namespace

bool LayoutIsSeen(const Computation& computation, InstructionId id) {
  const InstructionIds& users = computation[id].users();
  return std::any_of(users.begin(), users.end(), [&](InstructionId user) {
    const Opcode opcode = computation[user].opcode();
    return opcode == Opcode::kBitcast || IsOpaque(opcode);
  });
}

Rewriter::Rewriter(Module& module, ComputationId id,
                   const RewriteOptions& options)
    : module_(&module),
      id_(id),
      options_(&options),
      current_(&module.computation(id)),
      mark_(current_->slot_count()),
      replaced_mark_(mark_) {}

Rewriter::~Rewriter() {
  if (mutable_ != nullptr && !changed_ && replaced_ != nullptr) {
    module_->ShareComputation(id_, std::move(replaced_));
  }
}

// An array of many dimensions of size 1, so that reading on is harmless.
const Instruction& Rewriter::Misfit() {
  static const Instruction* const misfit = new Instruction(
      Opcode::kUnknown,
      Shape::Array(ElementType::kF32, std::vector<int64_t>(32, 1)),
      InstructionIds(8, kNoInstruction));
  return *misfit;
}

void Rewriter::Fail(absl::string_view what, Place place) {
  if (!status_.ok()) return;
  status_ = absl::InternalError(absl::StrCat(FileName(place.file_name()), ":",
                                             place.line(), ": computation ",
                                             current_->name(), ": ", what));
}

bool Rewriter::CheckLive(InstructionId id, Place place) {
  if (current_->Contains(id)) return true;
  Fail(absl::StrCat("instruction id ", id,
                    ", expected a live instruction of the computation"),
       place);
  return false;
}

bool Rewriter::DiesWithoutUsers(InstructionId id, bool parameters) const {
  const Instruction& instruction = (*this)[id];
  return id != current_->root() &&
         (parameters || instruction.opcode() != Opcode::kParameter) &&
         !current_->HasControlDependency(id) &&
         // A barrier has an effect on its users only.
         (instruction.opcode() == Opcode::kOptBarrier ||
          !module_->HasSideEffect(instruction));
}

bool Rewriter::DiesWith(InstructionId id, InstructionId user) const {
  const Instruction& instruction = (*this)[id];
  return instruction.users().size() == 1 && instruction.users()[0] == user &&
         id != current_->root() && instruction.opcode() != Opcode::kParameter &&
         !current_->HasControlDependency(id);
}

int Rewriter::FreedWith(InstructionId id, InstructionId user) const {
  int freed = 0;
  while (DiesWith(id, user)) {
    ++freed;
    if (!Is(id, Opcode::kBroadcast) && !Is(id, Opcode::kReshape)) break;
    user = id;
    id = operand(id, 0);
  }
  return freed;
}

bool Rewriter::MayReplace(InstructionId id, bool dynamic) const {
  const Instruction& instruction = (*this)[id];
  // This is asked of every instruction, so what most have none of comes first.
  if (instruction.opcode() == Opcode::kParameter ||
      current_->HasControlDependency(id) ||
      (!instruction.attributes().others.empty() &&
       !AttributesPermitReplacing(instruction)) ||
      module_->HasSideEffect(instruction)) {
    return false;
  }
  bool has_layout = instruction.shape().layout() != nullptr;
  if (!dynamic && instruction.shape().is_dynamic()) return false;
  for (InstructionId operand : instruction.operands()) {
    if (!dynamic && shape(operand).is_dynamic()) return false;
    has_layout |= shape(operand).layout() != nullptr;
  }
  return !has_layout || !LayoutIsSeen(id);
}

InstructionId Rewriter::Add(Instruction instruction, Place place) {
  instruction.set_attributes(WithoutCarried(instruction.attributes_ptr()));
  return Insert(std::move(instruction), place);
}

InstructionId Rewriter::AddOfType(Instruction instruction, ElementType type,
                                  Place place) {
  instruction.set_attributes(WithoutCarried(instruction.attributes_ptr()));
  instruction.set_shape(Shape::Scalar(type));
  return Insert(std::move(instruction), place, /*of_type=*/true);
}

InstructionId Rewriter::AddCopy(Instruction instruction, Place place) {
  return Insert(std::move(instruction), place);
}

InstructionId Rewriter::Insert(Instruction instruction, Place place,
                               bool of_type) {
  if (!status_.ok()) return kNoInstruction;
  for (InstructionId operand : instruction.operands()) {
    if (!CheckLive(operand, place)) return kNoInstruction;
  }
  absl::StatusOr<ShapePtr> inferred =
      InferShape(*module_, *current_, instruction);
  if (!inferred.ok()) {
    Fail(absl::StrCat(OpcodeName(instruction.opcode()), ": ",
                      inferred.status().message()),
         place);
    return kNoInstruction;
  }
  if (of_type || instruction.shape_ptr() == nullptr) {
    if (*inferred == nullptr) {
      Fail(absl::StrCat(OpcodeName(instruction.opcode()),
                        ": no shape, expected one: operands do not tell it"),
           place);
      return kNoInstruction;
    }
    instruction.set_shape(*std::move(inferred));
  } else if (*inferred != nullptr && *inferred != instruction.shape_ptr()) {
    Fail(absl::StrCat(OpcodeName(instruction.opcode()), ": shape ",
                      instruction.shape().ToString(), ", expected ",
                      (*inferred)->ToString()),
         place);
    return kNoInstruction;
  }
  if (IsAnnotated(instruction) || AppliesAnnotated(*module_, instruction)) {
    is_annotated_ = true;
  }
  const InstructionId id = Mutable().AddInstruction(std::move(instruction));
  Touch(id);
  return id;
}

bool Rewriter::HasAnnotations() const {
  if (!is_annotated_.has_value()) {
    is_annotated_ = false;
    for (const Instruction& i : current_->instructions()) {
      if ((i.opcode() == Opcode::kParameter || !IsAnnotated(i)) &&
          !AppliesAnnotated(*module_, i)) {
        continue;
      }
      is_annotated_ = true;
      break;
    }
  }
  return *is_annotated_;
}

bool Rewriter::LosesAnnotation(InstructionId id,
                               absl::Span<const InstructionId> kept) const {
  // A call need not keep operands that its callee does not use.
  if (IsControlFlow((*current_)[id].opcode()) || !HasAnnotations()) {
    return false;
  }
  // The rewrite may have made another of the kind, with the annotations.
  const auto is_carried = [&](InstructionId dying) {
    for (InstructionId made = mark_; made < current_->slot_count(); ++made) {
      if (made != dying && current_->Contains(made) &&
          !absl::c_linear_search(heirs_, made) &&
          KeepsAnnotations((*current_)[dying], (*current_)[made])) {
        return true;
      }
    }
    return false;
  };
  // How many users of an instruction stay.
  absl::flat_hash_map<InstructionId, size_t> users;
  absl::InlinedVector<InstructionId, 8> worklist = {id};
  while (!worklist.empty()) {
    const InstructionIds& operands = (*current_)[worklist.back()].operands();
    worklist.pop_back();
    for (size_t i = 0; i < operands.size(); ++i) {
      const InstructionId operand = operands[i];
      const auto begin = operands.begin();
      const auto here = begin + static_cast<int64_t>(i);
      if (std::find(begin, here, operand) != here ||
          absl::c_linear_search(kept, operand)) {
        continue;
      }
      const Instruction& dying = (*current_)[operand];
      const size_t left =
          --users.try_emplace(operand, dying.users().size()).first->second;
      if (left > 0 || !DiesWithoutUsers(operand)) continue;
      if ((IsAnnotated(dying) && !is_carried(operand)) ||
          LosesRegion(operand, kNoInstruction)) {
        return true;
      }
      worklist.push_back(operand);
    }
  }
  return false;
}

bool Rewriter::LosesRegion(InstructionId old, InstructionId replacement) const {
  const Instruction& instruction = (*current_)[old];
  if (!AppliesAnnotated(*module_, instruction)) return false;
  const auto applies = [&](InstructionId id) {
    return id != old && current_->Contains(id) &&
           (*current_)[id].called() == instruction.called();
  };
  if (applies(replacement)) return false;
  for (InstructionId made = mark_; made < current_->slot_count(); ++made) {
    if (applies(made)) return false;
  }
  return true;
}

bool Rewriter::Replace(InstructionId old, InstructionId replacement,
                       Place place) {
  if (!status_.ok() || !CheckLive(old, place) ||
      !CheckLive(replacement, place)) {
    return false;
  }
  const Instruction& instruction = (*current_)[old];
  if (old == replacement || instruction.opcode() == Opcode::kParameter) {
    Fail(absl::StrCat(OpcodeName(instruction.opcode()), " ", instruction.name(),
                      ": replaced by itself, or a parameter"),
         place);
    return false;
  }
  if (!Shape::Equal(shape(old), shape(replacement))) {
    Fail(absl::StrCat(OpcodeName(instruction.opcode()), " ", instruction.name(),
                      ": replaced by ", shape(replacement).ToString(),
                      ", expected ", shape(old).ToString()),
         place);
    return false;
  }
  for (InstructionId user : instruction.users()) {
    if (user >= replaced_mark_ && user != replacement) {
      Fail(absl::StrCat(OpcodeName(instruction.opcode()), " ",
                        instruction.name(),
                        ": used by what the rewrite added in its place"),
           place);
      return false;
    }
  }
  if (LosesRegion(old, replacement)) return false;
  // The replacement may use what it replaces.
  if (!absl::c_linear_search(instruction.users(), replacement) &&
      LosesAnnotation(old, {replacement})) {
    return false;
  }
  const bool copies =
      !Shape::Equal(shape(old), shape(replacement), /*ignore_layout=*/false) &&
      LayoutIsSeen(old);
  const bool is_new = copies || replacement >= mark_;
  if (copies) {
    replacement = Insert(
        Instruction(Opcode::kCopy, (*current_)[old].shape_ptr(), {replacement}),
        place);
    if (!status_.ok()) return false;
  }
  // Asked before a shared computation is copied.
  if (!MayCarryAttributes(*current_, old, (*current_)[replacement], is_new)) {
    return false;
  }
  CarryAttributes(Mutable(), old, replacement, is_new);
  if (IsAnnotated((*current_)[old])) heirs_.push_back(replacement);
  changed_ = true;
  replaced_mark_ = current_->slot_count();
  Touch(replacement);
  for (InstructionId user : (*current_)[old].users()) Touch(user);
  Mutable().ReplaceAllUses(old, replacement);
  // Rewrites that ask whether something dies with them may apply now.
  for (InstructionId operand : InstructionIds((*current_)[old].operands())) {
    if ((*current_)[operand].users().size() > 8) continue;
    for (InstructionId user : (*current_)[operand].users()) Touch(user);
  }
  std::string name = (*current_)[old].name();
  RemoveDead(old);
  // Two live instructions must not share a name.
  if (is_new && !current_->Contains(old) &&
      (*current_)[replacement].name().empty()) {
    Mutable().mutable_instruction(replacement).set_name(std::move(name));
  }
  return true;
}

bool Rewriter::ReplaceWith(InstructionId old, Instruction instruction,
                           Place place) {
  const InstructionId replacement = Add(std::move(instruction), place);
  return status_.ok() && Replace(old, replacement, place);
}

void Rewriter::SetOperand(InstructionId user, size_t i, InstructionId operand,
                          Place place) {
  if (!status_.ok() || !CheckLive(user, place) || !CheckLive(operand, place)) {
    return;
  }
  if (i >= (*current_)[user].operand_count() ||
      !Shape::Equal(shape(operand), shape(this->operand(user, i)))) {
    Fail(absl::StrCat("operand ", i, " of ", (*current_)[user].name(), ": ",
                      shape(operand).ToString(),
                      ", expected the shape of the one before"),
         place);
    return;
  }
  changed_ = true;
  Mutable().ReplaceOperand(user, i, operand);
  Touch(user);
}

void Rewriter::SetOperands(InstructionId user,
                           absl::Span<const InstructionId> operands,
                           Place place) {
  if (!status_.ok() || !CheckLive(user, place)) return;
  for (InstructionId operand : operands) {
    if (!CheckLive(operand, place)) return;
  }
  changed_ = true;
  Mutable().SetOperands(user, operands);
  Touch(user);
}

void Rewriter::ReplaceUses(InstructionId old, InstructionId replacement,
                           Place place) {
  if (!status_.ok() || old == replacement || !CheckLive(old, place) ||
      !CheckLive(replacement, place)) {
    return;
  }
  changed_ = true;
  for (InstructionId user : (*current_)[old].users()) Touch(user);
  Mutable().ReplaceAllUses(old, replacement);
}

void Rewriter::SetShape(InstructionId id, ShapePtr shape,
                        std::shared_ptr<const Attributes> attributes,
                        Place place) {
  if (!status_.ok() || !CheckLive(id, place)) return;
  changed_ = true;
  Instruction& instruction = Mutable().mutable_instruction(id);
  instruction.set_shape(std::move(shape));
  instruction.set_attributes(std::move(attributes));
  is_annotated_.reset();
}

void Rewriter::SetAttributes(InstructionId id,
                             std::shared_ptr<const Attributes> attributes,
                             Place place) {
  if (!status_.ok() || !CheckLive(id, place)) return;
  changed_ = true;
  Mutable().mutable_instruction(id).set_attributes(std::move(attributes));
  is_annotated_.reset();
}

void Rewriter::SetCalled(InstructionId id, ComputationIds called, Place place) {
  if (!status_.ok() || !CheckLive(id, place)) return;
  changed_ = true;
  Mutable().mutable_instruction(id).set_called(std::move(called));
}

void Rewriter::SetIndex(InstructionId id, int32_t index, Place place) {
  if (!status_.ok() || !CheckLive(id, place)) return;
  changed_ = true;
  Mutable().mutable_instruction(id).set_index(index);
}

void Rewriter::SetRoot(InstructionId id, Place place) {
  if (!status_.ok() || !CheckLive(id, place)) return;
  changed_ = true;
  Mutable().set_root(id);
}

void Rewriter::RenumberParameters() {
  if (!status_.ok()) return;
  changed_ = true;
  Mutable().RenumberParameters();
}

void Rewriter::Include(const Rewriter& callee) {
  if (status_.ok()) status_ = callee.status();
  changed_ |= callee.changed();
}

void Rewriter::AddControlPredecessor(InstructionId successor,
                                     InstructionId predecessor, Place place) {
  if (!status_.ok() || !CheckLive(successor, place) ||
      !CheckLive(predecessor, place)) {
    return;
  }
  changed_ = true;
  Mutable().AddControlPredecessor(successor, predecessor);
}

void Rewriter::RemoveDead(InstructionId id, bool parameters) {
  if (!status_.ok()) return;
  absl::InlinedVector<InstructionId, 16> worklist = {id};
  while (!worklist.empty()) {
    const InstructionId next = worklist.back();
    worklist.pop_back();
    if (!current_->Contains(next)) continue;
    const Instruction& instruction = (*current_)[next];
    if (!instruction.users().empty() || !DiesWithoutUsers(next, parameters)) {
      continue;
    }
    const InstructionIds operands = instruction.operands();
    if (next < mark_) changed_ = true;
    Mutable().Remove(next);
    for (InstructionId operand : operands) {
      if ((*current_)[operand].users().empty()) worklist.push_back(operand);
    }
  }
}

void Rewriter::BypassControlDependencies(InstructionId id, Place place) {
  if (!status_.ok() || !CheckLive(id, place) ||
      !current_->HasControlDependency(id)) {
    return;
  }
  changed_ = true;
  Mutable().BypassControlDependencies(id);
}

InstructionId Rewriter::NextTouched() {
  while (next_touched_ < touched_.size()) {
    const InstructionId id = touched_[next_touched_++];
    is_touched_[id] = false;
    if (current_->Contains(id)) return id;
  }
  touched_.clear();
  next_touched_ = 0;
  return kNoInstruction;
}

void Rewriter::TouchAll() {
  queues_ = true;
  for (const Instruction& instruction : current_->instructions()) {
    Touch(instruction.id());
  }
}

void Rewriter::EndRewrite() {
  const InstructionId slots = current_->slot_count();
  for (InstructionId id = slots; id-- > mark_;) RemoveDead(id);
  mark_ = replaced_mark_ = slots;
  heirs_.clear();
}

Computation& Rewriter::Mutable() {
  if (mutable_ == nullptr) {
    mutable_ = &module_->mutable_computation(id_, &replaced_);
    current_ = mutable_;
  }
  return *mutable_;
}

void Rewriter::Touch(InstructionId id) {
  if (!queues_ || is_touched_[id]) return;
  is_touched_[id] = true;
  touched_.push_back(id);
}

}  // namespace hone::hlo

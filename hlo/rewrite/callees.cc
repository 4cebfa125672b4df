#include "hlo/rewrite/callees.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"

#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/owned_computations.h"

namespace hone::hlo {

bool MayBeCopied(const Computation& computation) {
  return OwnedBy(computation).empty();
}

bool ParametersMayGo(const Computation& computation) {
  return absl::c_none_of(computation.parameters(), [&](InstructionId id) {
    return IsAnnotated(computation[id]) || computation.HasControlDependency(id);
  });
}

Callees::Callees(Module& module)
    : module_(module), budget_(CloningBudget(module)), cloner_(module) {}

IdMap<int>& Callees::Callers() {
  if (!callers_.has_value()) {
    callers_.emplace();
    for (const Computation& computation : module_.computations()) {
      CountCallersIn(computation);
    }
  }
  return *callers_;
}

void Callees::CountCallersIn(const Computation& computation) {
  if (!callers_.has_value()) return;
  for (const Instruction& instruction : computation.instructions()) {
    for (ComputationId callee : instruction.called()) ++(*callers_)[callee];
  }
}

bool Callees::AreOwn(const Instruction& site) {
  const IdMap<int>& callers = Callers();
  return std::all_of(
      site.called().begin(), site.called().end(),
      [&](ComputationId callee) { return callers.at(callee) == 1; });
}

bool Callees::MakeOwn(Rewriter& r, InstructionId site) {
  ComputationIds called = r[site].called();
  IdMap<int>& callers = Callers();
  int64_t copied = 0;
  for (ComputationId callee : called) {
    if (callers.at(callee) == 1) continue;
    if (!MayBeCopied(module_.computation(callee))) return false;
    copied += module_.computation(callee).live_count();
  }
  if (copied == 0) return true;
  if (!Spend(copied)) return false;
  for (ComputationId& callee : called) {
    if (callers.at(callee) == 1) continue;
    --callers[callee];
    callee = cloner_.Clone(callee);
    callers[callee] = 1;
    CountCallersIn(module_.computation(callee));
  }
  r.SetCalled(site, std::move(called));
  return true;
}

bool Callees::Spend(int64_t instructions) {
  if (instructions > budget_) return false;
  budget_ -= instructions;
  return true;
}

InstructionId Callees::Copy(Rewriter& r, ComputationId callee,
                            absl::Span<const InstructionId> arguments) {
  const Computation& source = module_.computation(callee);
  if (source.parameters().size() != arguments.size()) {
    r.Fail("another number of arguments than parameters");
    return kNoInstruction;
  }
  InstructionIds values(arguments.begin(), arguments.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const InstructionId parameter = source.parameters()[i];
    const ShapePtr& shape = source[parameter].shape_ptr();
    if (LayoutIsSeen(source, parameter) &&
        !Shape::Equal(*shape, r.shape(values[i]), /*ignore_layout=*/false)) {
      values[i] = r.AddCopy(Instruction(Opcode::kCopy, shape, {values[i]}));
    }
  }
  CountCallersIn(source);
  return CloneInstructions(
      source, values,
      [&](Instruction copy) { return r.AddCopy(std::move(copy)); },
      [&](InstructionId successor, InstructionId predecessor) {
        r.AddControlPredecessor(successor, predecessor);
      });
}

bool Callees::Inline(Rewriter& r, InstructionId site, size_t i,
                     absl::Span<const InstructionId> arguments) {
  const ComputationId id = r[site].called()[i];
  const Computation& callee = module_.computation(id);
  const Instruction& root = callee[callee.root()];
  const bool is_new = root.opcode() != Opcode::kParameter;
  const Instruction& result =
      is_new ? root : r[arguments[static_cast<size_t>(root.index())]];
  if (callee.suffix() != r.computation().suffix() ||
      (!MayBeCopied(callee) && !AreOwn(r[site])) ||
      r.computation().HasControlDependency(site) || !ParametersMayGo(callee) ||
      !Shape::Equal(result.shape(), r.shape(site)) ||
      !MayCarryAttributes(r.computation(), site, result, is_new)) {
    return false;
  }
  for (size_t k = 0; k < callee.parameters().size(); ++k) {
    if (!Shape::Equal(callee[callee.parameters()[k]].shape(),
                      r.shape(arguments[k]))) {
      return false;
    }
  }
  return Spend(callee.live_count()) &&
         ReplaceSite(r, site, Copy(r, id, arguments), is_new);
}

bool Callees::ReplaceSite(Rewriter& r, InstructionId site,
                          InstructionId replacement, bool is_new) {
  if (!r.ok() || r.computation().HasControlDependency(site) ||
      !Shape::Equal(r.shape(site), r.shape(replacement)) ||
      !MayCarryAttributes(r.computation(), site, r[replacement], is_new)) {
    return false;
  }
  if (callers_.has_value()) {
    for (ComputationId callee : r[site].called()) --(*callers_)[callee];
  }
  // Without callees it has no effect, so that it can be removed.
  r.SetCalled(site, {});
  if (!r.Replace(site, replacement)) {
    r.Fail("attributes that may be carried over are refused");
  }
  return r.ok();
}

}  // namespace hone::hlo

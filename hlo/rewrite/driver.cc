#include "hlo/rewrite/driver.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/ir/id_map.h"
#include "hlo/rewrite/owned_computations.h"

namespace hone::hlo {
namespace {

OpcodeSet OpcodesOf(const RewriteRule& rule) {
  return rule.opcodes.empty() ? OpcodeSet::All() : rule.opcodes;
}

std::string Describe(const Instruction& instruction) {
  return absl::StrCat(instruction.name(), " = ", instruction.shape().ToString(),
                      " ", OpcodeName(instruction.opcode()));
}

absl::Status Check(const Rewriter& r, const RewriteRule& rule,
                   const RewriteOptions& options) {
  if (!r.ok()) {
    return absl::InternalError(
        absl::StrCat(rule.name, ": ", r.status().message()));
  }
  if (!options.verify_rewrites) return absl::OkStatus();
  const absl::Status verified = VerifyModule(r.module());
  if (verified.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      rule.name,
      " leaves a module that does not verify: ", verified.message()));
}

// One rewrite on its way through one computation.
class Driver {
 public:
  Driver(Module& module, ComputationId id, const RewriteRule& rule,
         const RewriteOptions& options, RewriteFunction rewrite)
      : r_(module, id, options),
        rule_(rule),
        options_(options),
        opcodes_(OpcodesOf(rule)),
        rewrite_(rewrite) {}

  absl::StatusOr<bool> Run() {
    switch (rule_.visit) {
      case Visit::kEach:
        HONE_RETURN_IF_ERROR(VisitEach(/*until_changed=*/false));
        break;
      case Visit::kPostOrder:
        for (InstructionId id : r_.computation().PostOrder()) {
          if (Concerns(id)) HONE_RETURN_IF_ERROR(Rewrite(id));
        }
        break;
      case Visit::kFixedPoint:
        HONE_RETURN_IF_ERROR(VisitToFixedPoint());
        break;
    }
    return r_.changed();
  }

 private:
  absl::Status VisitEach(bool until_changed) {
    const InstructionId slots = r_.computation().slot_count();
    for (InstructionId id = 0; id < slots; ++id) {
      if (until_changed && r_.changed()) break;
      if (Concerns(id)) HONE_RETURN_IF_ERROR(Rewrite(id));
    }
    return absl::OkStatus();
  }

  absl::Status VisitToFixedPoint() {
    // Before the first match there is nothing to keep a queue for.
    HONE_RETURN_IF_ERROR(VisitEach(/*until_changed=*/true));
    if (!r_.changed()) return absl::OkStatus();
    // Rewrites shrink the module or move it towards a normal form, so this ends
    // by itself; the bound is there should two ever undo each other.
    const int64_t bound = 1000 + 20 * int64_t{r_.computation().slot_count()};
    int64_t before;
    do {
      before = rewrites_;
      r_.TouchAll();
      for (InstructionId id = r_.NextTouched(); id != kNoInstruction;
           id = r_.NextTouched()) {
        if (Concerns(id)) HONE_RETURN_IF_ERROR(Rewrite(id));
        if (rewrites_ > bound) return absl::OkStatus();
      }
    } while (rewrites_ != before);
    return absl::OkStatus();
  }

  bool Concerns(InstructionId id) const {
    const Computation& computation = r_.computation();
    return computation.Contains(id) &&
           opcodes_.Contains(computation[id].opcode());
  }

  absl::Status Rewrite(InstructionId id) {
    if (!rule_.checks_itself && !r_.MayReplace(id, rule_.dynamic)) {
      return absl::OkStatus();
    }
    std::string before;
    if (options_.trace) before = Describe(r_.computation()[id]);
    const bool rewritten = rewrite_(r_, id);
    if (!r_.ok()) return Check(r_, rule_, options_);
    r_.EndRewrite();
    if (!rewritten) return absl::OkStatus();
    ++rewrites_;
    if (options_.trace) {
      options_.trace({rule_.name, r_.computation().name(), std::move(before)});
    }
    return Check(r_, rule_, options_);
  }

  Rewriter r_;
  const RewriteRule& rule_;
  const RewriteOptions& options_;
  const OpcodeSet opcodes_;
  RewriteFunction rewrite_;
  int64_t rewrites_ = 0;
};

// The computations in which the rule may apply.
std::vector<ComputationId> Order(const Module& module,
                                 const RewriteRule& rule) {
  const OpcodeSet opcodes = OpcodesOf(rule);
  std::vector<ComputationId> order = RewritableComputations(module);
  std::erase_if(order, [&](ComputationId id) {
    return !module.computation(id).opcodes().Intersects(opcodes);
  });
  if (rule.call_order == CallOrder::kAny || order.size() < 2) return order;
  IdMap<bool> applies;
  for (ComputationId id : order) applies[id] = true;
  order = module.ComputationPostOrder();
  std::erase_if(order, [&](ComputationId id) { return !applies.at(id); });
  if (rule.call_order == CallOrder::kCallersFirst) absl::c_reverse(order);
  return order;
}

}  // namespace

absl::StatusOr<bool> RewriteComputation(Module& module,
                                        ComputationId computation,
                                        const RewriteRule& rule,
                                        const RewriteOptions& options,
                                        RewriteFunction rewrite) {
  if (module.is_scheduled() || !Permits(options.numerics, rule.numeric_class) ||
      !module.computation(computation).opcodes().Intersects(OpcodesOf(rule))) {
    return false;
  }
  return Driver(module, computation, rule, options, rewrite).Run();
}

absl::StatusOr<bool> RewriteModule(Module& module, const RewriteRule& rule,
                                   const RewriteOptions& options,
                                   RewriteFunction rewrite) {
  bool changed = false;
  for (ComputationId id : Order(module, rule)) {
    HONE_ASSIGN_OR_RETURN(
        const bool changed_here,
        RewriteComputation(module, id, rule, options, rewrite));
    changed |= changed_here;
  }
  if (changed && rule.drops_callees) module.RemoveUnreachableComputations();
  return changed;
}

absl::StatusOr<bool> RewriteComputations(
    Module& module, const RewriteRule& rule, const RewriteOptions& options,
    absl::FunctionRef<void(Rewriter& r)> rewrite) {
  if (module.is_scheduled() || !Permits(options.numerics, rule.numeric_class)) {
    return false;
  }
  bool changed = false;
  for (ComputationId id : Order(module, rule)) {
    Rewriter r(module, id, options);
    rewrite(r);
    if (r.ok()) r.EndRewrite();
    if (!r.ok() || r.changed()) {
      HONE_RETURN_IF_ERROR(Check(r, rule, options));
      if (options.trace) options.trace({rule.name, r.computation().name(), ""});
    }
    changed |= r.changed();
  }
  if (changed && rule.drops_callees) module.RemoveUnreachableComputations();
  return changed;
}

}  // namespace hone::hlo

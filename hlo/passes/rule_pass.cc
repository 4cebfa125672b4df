#include "hlo/passes/rule_pass.h"

#include <type_traits>

namespace hone::hlo {
namespace {

template <typename Rewrite>
class RulePass final : public Pass {
 public:
  RulePass(const RewriteRule& rule, Rewrite rewrite)
      : rule_(rule), rewrite_(rewrite) {}

  absl::string_view name() const override { return rule_.name; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    if constexpr (std::is_invocable_v<Rewrite, Rewriter&>) {
      return RewriteComputations(module, rule_, options, rewrite_);
    } else if constexpr (std::is_invocable_v<Rewrite, Rewriter&,
                                             InstructionId>) {
      return RewriteModule(module, rule_, options, rewrite_);
    } else {
      return RewriteModule(module, rule_, options,
                           [&](Rewriter& r, InstructionId id) {
                             return rewrite_(module, r, id);
                           });
    }
  }

 private:
  const RewriteRule rule_;
  const Rewrite rewrite_;
};

template <typename Rewrite>
std::unique_ptr<Pass> MakePass(const RewriteRule& rule, Rewrite rewrite) {
  return std::make_unique<RulePass<Rewrite>>(rule, rewrite);
}

}  // namespace

std::unique_ptr<Pass> MakeRulePass(const RewriteRule& rule,
                                   bool (*rewrite)(Rewriter& r,
                                                   InstructionId id)) {
  return MakePass(rule, rewrite);
}

std::unique_ptr<Pass> MakeRulePass(const RewriteRule& rule,
                                   bool (*rewrite)(Module& module, Rewriter& r,
                                                   InstructionId id)) {
  return MakePass(rule, rewrite);
}

std::unique_ptr<Pass> MakeRulePass(const RewriteRule& rule,
                                   void (*rewrite)(Rewriter& r)) {
  return MakePass(rule, rewrite);
}

}  // namespace hone::hlo

#ifndef HONE_HLO_PASSES_RULE_PASS_H_
#define HONE_HLO_PASSES_RULE_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {

// A pass that applies one rewrite to every computation and is named as its
// rule. The functions are those of RewriteModule, with `module` for rewrites
// that add computations, and of RewriteComputations (driver.h).
std::unique_ptr<Pass> MakeRulePass(const RewriteRule& rule,
                                   bool (*rewrite)(Rewriter& r,
                                                   InstructionId id));
std::unique_ptr<Pass> MakeRulePass(const RewriteRule& rule,
                                   bool (*rewrite)(Module& module, Rewriter& r,
                                                   InstructionId id));
std::unique_ptr<Pass> MakeRulePass(const RewriteRule& rule,
                                   void (*rewrite)(Rewriter& r));

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_RULE_PASS_H_

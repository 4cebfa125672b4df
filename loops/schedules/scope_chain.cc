#include "loops/schedules/scope_chain.h"

#include "absl/algorithm/container.h"

#include "loops/schedules/nest.h"

namespace hone::loops {

std::vector<const Scope*> ScopeChain::Scopes() const {
  std::vector<const Scope*> scopes;
  for (const Scope* scope = s_.program().At(top_).scope(); scope != nullptr;
       scope = OnlyChildScope(*scope)) {
    scopes.push_back(scope);
  }
  return scopes;
}

size_t ScopeChain::DepthOf(VarId var) const {
  const std::vector<const Scope*> scopes = Scopes();
  return static_cast<size_t>(
      absl::c_find_if(scopes, [&](const Scope* s) { return s->var == var; }) -
      scopes.begin());
}

Path ScopeChain::AtDepth(size_t depth) const {
  Path path = top_;
  path.resize(top_.size() + depth, 0);
  return path;
}

bool ScopeChain::MoveOut(absl::Span<const VarId> order) {
  for (size_t depth = 0; depth < order.size(); ++depth) {
    for (size_t at = DepthOf(order[depth]); at > depth; --at) {
      if (!s_.Do("interchange", AtDepth(at - 1))) return false;
    }
  }
  return true;
}

bool ScopeChain::Split(VarId var, int64_t factor, VarId& outer, VarId& inner) {
  const size_t depth = DepthOf(var);
  if (!s_.Do("split", AtDepth(depth), {factor})) return false;
  const std::vector<const Scope*> scopes = Scopes();
  outer = scopes[depth]->var;
  inner = scopes[depth + 1]->var;
  return true;
}

bool ScopeChain::SplitOffFirst() {
  for (size_t depth = Scopes().size(); depth-- > 0;) {
    if (!s_.Do("fission", AtDepth(depth), {1})) return false;
  }
  return true;
}

}  // namespace hone::loops

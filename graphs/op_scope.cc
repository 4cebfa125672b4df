#include "graphs/op_scope.h"

#include <vector>

#include "absl/strings/str_join.h"

namespace hone::graphs {
namespace {

constexpr absl::string_view kKey = "op_name=\"";

// Splits at slashes that are not between parentheses.
std::vector<absl::string_view> Components(absl::string_view name) {
  std::vector<absl::string_view> components;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] == '(') ++depth;
    if (i < name.size() && name[i] == ')') --depth;
    if (i == name.size() || (name[i] == '/' && depth <= 0)) {
      components.push_back(name.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return components;
}

// "layer1" of "transpose(jvp(layer1))"; empty for "jit(f)".
absl::string_view Inside(absl::string_view component) {
  for (;;) {
    const size_t open = component.find('(');
    if (open == component.npos || component.back() != ')') return component;
    const absl::string_view transformation = component.substr(0, open);
    if (transformation == "jit" || transformation == "pjit") return "";
    component = component.substr(open + 1, component.size() - open - 2);
  }
}

}  // namespace

std::string ScopeOf(absl::string_view metadata) {
  const size_t at = metadata.find(kKey);
  if (at == metadata.npos) return "";
  absl::string_view name = metadata.substr(at + kKey.size());
  name = name.substr(0, name.find('"'));
  std::vector<absl::string_view> parts = Components(name);
  parts.pop_back();
  std::vector<absl::string_view> scope;
  for (const absl::string_view part : parts) {
    const absl::string_view inside = Inside(part);
    if (!inside.empty()) scope.push_back(inside);
  }
  return absl::StrJoin(scope, "/");
}

}  // namespace hone::graphs

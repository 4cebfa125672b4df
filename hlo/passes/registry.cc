#include "hlo/passes/registry.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::hlo {
namespace {

using PassMap = std::map<absl::string_view, std::unique_ptr<const Pass>>;

const PassMap& AllPasses() {
  static const PassMap* const passes = [] {
    auto* map = new PassMap;
#define HONE_PASS(id, factory) map->emplace(id, factory());
#include "hlo/passes/passes.def"
#undef HONE_PASS
    return map;
  }();
  return *passes;
}

}  // namespace

std::vector<absl::string_view> PassNames() {
  std::vector<absl::string_view> names;
  for (const auto& [name, _] : AllPasses()) names.push_back(name);
  return names;
}

absl::StatusOr<const Pass*> FindPass(absl::string_view name) {
  auto it = AllPasses().find(name);
  if (it == AllPasses().end()) {
    return absl::NotFoundError(
        absl::StrCat("unknown pass '", name,
                     "', expected one of: ", absl::StrJoin(PassNames(), ", ")));
  }
  return it->second.get();
}

}  // namespace hone::hlo

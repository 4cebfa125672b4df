#include "bench/pass_dump.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/status_macros.h"

namespace hone::bench {
namespace {

constexpr absl::string_view kMark = "=== ";

absl::StatusOr<PassState> ParseStateName(absl::string_view name) {
  constexpr absl::string_view kAfter = ".after_";
  const size_t dot = name.find('.');
  const size_t after = name.find(kAfter, dot);
  const size_t before = name.find(".before_", after);
  if (before == absl::string_view::npos || dot >= after) {
    return absl::InvalidArgumentError(absl::StrCat(
        "state '", name, "', expected SSSS.PIPELINE.after_PASS.before_NEXT"));
  }
  PassState state;
  state.name = std::string(name);
  state.pipeline = std::string(name.substr(dot + 1, after - dot - 1));
  const size_t pass = after + kAfter.size();
  state.pass = std::string(name.substr(pass, before - pass));
  return state;
}

}  // namespace

absl::StatusOr<std::vector<PassState>> ParsePassDump(absl::string_view dump) {
  std::vector<PassState> states;
  while (!dump.empty()) {
    if (!absl::ConsumePrefix(&dump, kMark)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dump begins with '", dump.substr(0, 20),
                       "', expected '", kMark, "' and a name"));
    }
    const size_t line = dump.find('\n');
    HONE_ASSIGN_OR_RETURN(PassState state,
                          ParseStateName(dump.substr(0, line)));
    dump.remove_prefix(std::min(line, dump.size()));
    const size_t next = dump.find(absl::StrCat("\n", kMark));
    state.text = absl::StripPrefix(dump.substr(0, next), "\n");
    dump.remove_prefix(std::min(next, dump.size()));
    absl::ConsumePrefix(&dump, "\n");
    states.push_back(std::move(state));
  }
  return states;
}

std::vector<PassPair> FindPassPairs(const std::vector<PassState>& states) {
  absl::flat_hash_set<std::string> marks = {"pipeline-start"};
  for (const PassState& state : states) marks.insert(state.pipeline);
  std::vector<PassPair> pairs;
  for (size_t i = 1; i < states.size(); ++i) {
    if (marks.contains(states[i].pass)) continue;
    pairs.push_back(
        {states[i].pass, states[i].name, states[i - 1].text, states[i].text});
  }
  return pairs;
}

}  // namespace hone::bench

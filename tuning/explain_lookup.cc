#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

struct ComponentField {
  absl::string_view name;
  std::string storage::CacheKey::*field;
};
// Named as in CacheKey, in records and in the metric of misses.
constexpr ComponentField kComponents[] = {
    {"module_fingerprint", &storage::CacheKey::module_fingerprint},
    {"target", &storage::CacheKey::target},
    {"task", &storage::CacheKey::task},
    {"task_options", &storage::CacheKey::task_options},
    {"space_version", &storage::CacheKey::space_version},
};

}  // namespace

absl::StatusOr<LookupExplanation> ExplainLookup(storage::Store& store,
                                                const storage::CacheKey& key) {
  LookupExplanation explanation;
  HONE_ASSIGN_OR_RETURN(const std::optional<storage::Record> nearest,
                        store.FindNearest(key));
  std::vector<absl::string_view> different;
  for (const ComponentField& component : kComponents) {
    LookupExplanation::Component line;
    line.name = std::string(component.name);
    line.asked = key.*component.field;
    if (nearest) line.found = nearest->key.*component.field;
    line.matches = nearest && line.asked == line.found;
    if (!line.matches) different.push_back(component.name);
    explanation.components.push_back(std::move(line));
  }
  explanation.hit = nearest && different.empty();
  if (explanation.hit) {
    explanation.summary =
        absl::StrCat("hit: tuned at ", absl::FormatTime(nearest->created));
    return explanation;
  }
  const absl::StatusOr<storage::Record> exact = store.Lookup(key);
  if (absl::IsDataLoss(exact.status())) {
    explanation.summary = absl::StrCat("miss: the record is corrupt (",
                                       exact.status().message(), ")");
  } else if (!nearest) {
    explanation.summary = "miss: the cache is empty";
  } else {
    explanation.summary = absl::StrCat("miss: the nearest record differs in ",
                                       absl::StrJoin(different, ", "));
  }
  return explanation;
}

}  // namespace hone::tuning

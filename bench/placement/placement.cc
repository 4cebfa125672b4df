#include "bench/placement/placement.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/placement/quality.h"
#include "bench/placement/scale.h"

namespace hone::bench {

absl::StatusOr<nlohmann::ordered_json> RunPlacementBench(
    const PlacementBenchOptions& options, std::ostream& out) {
  nlohmann::ordered_json document = {
      {"bench", "placement"},
      {"machine", DescribeMachine()},
      {"contiguity", graphs::ContiguityName(options.contiguity)},
      {"worse_than_a_seed", 0}};
  for (const std::string& table : options.tables) {
    if (table == "quality") {
      HONE_ASSIGN_OR_RETURN(document[table], MeasureQuality(options, out));
      document["worse_than_a_seed"] = document[table]["worse_than_a_seed"];
    } else {
      HONE_ASSIGN_OR_RETURN(document[table], MeasureScale(options, out));
    }
  }
  return document;
}

}  // namespace hone::bench

#include "bench/placement/placement.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/placement/quality.h"
#include "bench/placement/scale.h"
#include "bench/placement/step_scale.h"

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
    } else if (table == "steps") {
      StepTableOptions steps = options.steps;
      steps.seeds = options.seeds;
      HONE_ASSIGN_OR_RETURN(document[table], MeasureSteps(steps, out));
      document["worse_than_a_seed"] =
          document["worse_than_a_seed"].get<int64_t>() +
          document[table]["worse_than_a_known_method"].get<int64_t>();
    } else if (table == "step-scale") {
      HONE_ASSIGN_OR_RETURN(document[table],
                            MeasureStepScale(options.nodes, out));
    } else {
      HONE_ASSIGN_OR_RETURN(document[table], MeasureScale(options, out));
    }
  }
  return document;
}

}  // namespace hone::bench

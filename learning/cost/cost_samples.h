#ifndef HONE_LEARNING_COST_COST_SAMPLES_H_
#define HONE_LEARNING_COST_COST_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "space/observation.h"

namespace hone::learning {

// What a head of a cost model predicts.
enum class CostTarget {
  // The logarithm of the time in nanoseconds, comparable between kernels.
  kTime,
  // A score in the order of the times of one kernel's configurations: higher
  // is slower. Scores of different kernels are not comparable.
  kOrder,
};

struct CostHead {
  std::string name;
  CostTarget target = CostTarget::kTime;

  friend bool operator==(const CostHead&, const CostHead&) = default;
};

// The name of the first kind of node: that of opcodes without one of their own.
inline constexpr absl::string_view kUnknownKind = "unknown";

// What a cost model sees and predicts.
struct CostSpec {
  // Kind 0 of the nodes must be named kUnknownKind if kinds have names. The
  // nodes of an observation are in topological order.
  space::ObservationSpec graph = {};
  // The features of a configuration, one name each.
  std::vector<std::string> config_names = {};
  std::vector<CostHead> heads =
      {};  // at least one; their names are distinct words
  // The version of the features: models of another one are refused.
  std::string features = {};

  friend bool operator==(const CostSpec&, const CostSpec&) = default;
};

// Returns the index of the head of that name.
// Errors: NotFound, listing the heads that there are.
absl::StatusOr<int32_t> FindHead(const CostSpec& spec, absl::string_view name);

// One configuration of one kernel, to be predicted. Points to both.
struct CostQuery {
  const space::Observation* graph = nullptr;
  absl::Span<const float> config;  // [config_names]
};

// A measured configuration. Samples that share a graph are encoded together.
struct CostSample {
  std::shared_ptr<const space::Observation> graph;
  std::vector<float> config = {};  // [config_names]
  double log_time = 0;             // the logarithm of nanoseconds
};

// The comparable configurations of one kernel.
struct CostGroup {
  std::string program = {};
  int32_t head = 0;
  double weight = 1;  // of the group's loss
  std::vector<CostSample> samples = {};
};

// Returns InvalidArgument, naming what differs and what was expected, unless
// the spec is one that a model can be made for.
absl::Status CheckCostSpec(const CostSpec& spec);
// The same for queries for a model of that spec, and for groups; groups also
// need a head, samples, a finite weight ≥ 0 and finite times.
absl::Status CheckQueries(const CostSpec& spec,
                          absl::Span<const CostQuery> queries);
absl::Status CheckGroups(const CostSpec& spec,
                         absl::Span<const CostGroup> groups);

// Appends the samples of a group as queries, which point into it.
void AppendQueries(const CostGroup& group, std::vector<CostQuery>& queries);

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_COST_SAMPLES_H_

#ifndef HONE_GRAPHS_IDEALS_H_
#define HONE_GRAPHS_IDEALS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"

#include "graphs/device_graph.h"

namespace hone::graphs {

struct PipelineOptions {
  // The largest number of ideals in either direction of the backward pass.
  int64_t max_ideals = 100'000;
  // Called now and then; the search ends when it returns true.
  std::function<bool()> stop = {};
};

// A valid pipeline of the least possible max load.
struct Pipeline {
  std::vector<int32_t> assignment;  // device of each node
  double max_load = 0;              // as ComputeLoads gives it
  // The work that it took: ideals, and pairs of them that were compared.
  int64_t ideals = 0;
  int64_t ideal_pairs = 0;
};

// Finds a pipeline (Contiguity::kPipeline) of the least max load by dynamic
// programming over the ideals of the graph of blocks (BlockGraph): the best
// value for an ideal and a number of devices of each kind is the least, over
// the ideals within it, of the larger of the best value for that ideal with one
// device less and the load of that device with the difference.
//
// The result is exact: pairs are skipped only where no better pipeline can come
// of them. A pipeline for one topological order (a chain of ideals) bounds the
// load; a difference whose latency reaches the bound grows no further; and a
// state is dropped if the other devices cannot do the rest below the bound.
//
// Errors: ResourceExhausted for more ideals than options.max_ideals, or if the
// table needs more than 1 GiB; Cancelled if options.stop returns true;
// FailedPrecondition if no pipeline satisfies the memory limit, the color
// classes and the supported devices.
// Determinism: the same graph gives the same result.
// Source: Tarnawski et al., NeurIPS 2020, section 5.1. Differs in the bounds,
// in the loads, which are updated from one ideal to the next, and in the
// backward pass: theirs follows the forward pass without being contiguous
// itself, ours is contiguous in one of the two directions.
absl::StatusOr<Pipeline> FindBestPipeline(const DeviceGraph& graph,
                                          const PipelineOptions& options = {});

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_IDEALS_H_

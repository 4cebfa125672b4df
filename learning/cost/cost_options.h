#ifndef HONE_LEARNING_COST_COST_OPTIONS_H_
#define HONE_LEARNING_COST_COST_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::learning {

// How nodes are embedded.
enum class CostEncoder {
  kSage,       // GraphSAGE
  kAttention,  // GraphSAGE whose aggregation is attention (GAT)
  kSequence,   // an LSTM over the nodes in order, without edges
};

// How GraphSAGE gathers the messages of neighbors.
enum class CostAggregator { kMean, kSum, kMax };

// How node embeddings become a kernel embedding.
enum class CostReduction {
  kMean,
  kSum,  // as log(1 + sum), so that large kernels do not saturate what follows
  kMax,
  kLstm,         // the last state of an LSTM over the nodes
  kTransformer,  // the mean of a Transformer encoder layer's outputs
};

// Where the features of a configuration come in.
enum class CostJoin {
  kEarly,  // at every node, before the encoder
  kLate,   // at the kernel embedding: one encoding serves all configurations
};

// The architecture of a cost model. It is saved with the weights.
struct CostOptions {
  CostEncoder encoder = CostEncoder::kSage;
  CostAggregator aggregator = CostAggregator::kSum;
  int32_t layers = 3;
  int32_t width = 64;    // of node embeddings; a multiple of 16
  int32_t hidden = 128;  // width of the heads' layers; a multiple of 16
  // Those that are concatenated: at least one, each at most once.
  std::vector<CostReduction> reductions = {
      CostReduction::kMean, CostReduction::kSum, CostReduction::kMax};
  CostJoin join = CostJoin::kLate;

  friend bool operator==(const CostOptions&, const CostOptions&) = default;
};

// Returns the options as text, "encoder=sage,aggregator=sum,layers=3,width=64,
// hidden=128,reduction=mean+sum+max,join=late", and reads it. Options that are
// left out keep their defaults.
// Errors: InvalidArgument for an unknown option or value.
std::string PrintCostOptions(const CostOptions& options);
absl::StatusOr<CostOptions> ParseCostOptions(absl::string_view text);

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_COST_OPTIONS_H_

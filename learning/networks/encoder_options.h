#ifndef HONE_LEARNING_NETWORKS_ENCODER_OPTIONS_H_
#define HONE_LEARNING_NETWORKS_ENCODER_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::learning {

// How a node gathers the messages of its neighbors.
enum class Aggregator { kMean, kSum, kMax, kAttention };

// The architecture of a graph encoder. It is saved with the weights.
struct EncoderOptions {
  int32_t width = 64;  // of all embeddings; a multiple of 4
  int32_t layers = 3;  // neighborhoods that a node sees
  Aggregator aggregator = Aggregator::kMean;
  // Nodes of a segment of the recurrent attention over long graphs; 0: none.
  int32_t segment = 0;
  // Whether the embedding of the graph scales the inputs of dense layers
  // ("parameter superposition").
  bool conditioning = false;
  // Whether the decisions of assignments are made by a chain of attention heads
  // (TaskHeads), rather than each from the embeddings alone.
  bool task_heads = false;

  friend bool operator==(const EncoderOptions&,
                         const EncoderOptions&) = default;
};

// Returns the options as text, "width=64,layers=3,aggregator=mean,segment=0,
// conditioning=0,task_heads=0", and reads it. Options that are left out keep
// their defaults. Errors: InvalidArgument for an unknown option or value.
std::string PrintEncoderOptions(const EncoderOptions& options);
absl::StatusOr<EncoderOptions> ParseEncoderOptions(absl::string_view text);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_ENCODER_OPTIONS_H_

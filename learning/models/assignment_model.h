#ifndef HONE_LEARNING_MODELS_ASSIGNMENT_MODEL_H_
#define HONE_LEARNING_MODELS_ASSIGNMENT_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "learning/assignments/value_view.h"
#include "learning/networks/encoder_options.h"

namespace hone::learning {

class ValueNetworkImpl;

// A policy for assignment problems: a network with its weights. Hides Torch.
class AssignmentModel {
 public:
  // Makes random weights that score all values 0. Deterministic by seed.
  AssignmentModel(const AssignmentSpec& spec, const EncoderOptions& options,
                  uint64_t seed);
  ~AssignmentModel();

  // Returns the scores of all values, as ValueView numbers them, after the
  // assignment `values`. Time and memory are linear in the graph; the heads
  // take a bounded number of variables at a time.
  std::vector<float> Score(const ValueView& view,
                           absl::Span<const int32_t> values) const;

  const AssignmentSpec& spec() const { return spec_; }
  const std::shared_ptr<ValueNetworkImpl>& network() const { return network_; }

 private:
  const AssignmentSpec spec_;
  std::shared_ptr<ValueNetworkImpl> network_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_ASSIGNMENT_MODEL_H_

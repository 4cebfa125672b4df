#ifndef HONE_LEARNING_NETWORKS_DESCENT_H_
#define HONE_LEARNING_NETWORKS_DESCENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <torch/torch.h>

#include "base/rng.h"

namespace hone::learning {

// Gradient descent (Adam) by minibatches that may be larger than memory: the
// gradients of parts add up until a step is made. Keeps a generator for the
// order of samples, so that a training is resumed where it stopped.
class Descent {
 public:
  Descent(std::shared_ptr<torch::nn::Module> network, double learning_rate,
          double max_gradient_norm, uint64_t seed);

  // Adds the gradient of a part of a minibatch's loss.
  void Accumulate(const torch::Tensor& loss) { loss.backward(); }
  // Makes a step by what has been accumulated, clipped to the largest norm.
  // Does nothing if the gradient is not finite. Returns the norm.
  double Step();

  void set_learning_rate(double rate);
  Rng& rng() { return rng_; }

  std::string Serialize() const;
  // Errors: InvalidArgument if `bytes` are no such state.
  absl::Status Parse(absl::string_view bytes);

 private:
  const std::shared_ptr<torch::nn::Module> network_;
  const double max_gradient_norm_;
  torch::optim::Adam adam_;
  Rng rng_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_DESCENT_H_

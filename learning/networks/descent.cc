#include "learning/networks/descent.h"

#include <cmath>
#include <cstdint>
#include <sstream>
#include <utility>

#include "learning/networks/archive_check.h"

namespace hone::learning {

Descent::Descent(std::shared_ptr<torch::nn::Module> network,
                 double learning_rate, double max_gradient_norm, uint64_t seed)
    : network_(std::move(network)),
      max_gradient_norm_(max_gradient_norm),
      adam_(network_->parameters(),
            torch::optim::AdamOptions(learning_rate).eps(1e-5)),
      rng_(seed) {
  adam_.zero_grad();
}

double Descent::Step() {
  // A parameter that no loss concerns has a gradient of 0 from its first step
  // on in one process, and none in another that has just resumed.
  for (torch::Tensor parameter : network_->parameters()) {
    if (!parameter.grad().defined()) {
      parameter.mutable_grad() = torch::zeros_like(parameter);
    }
  }
  const double norm = torch::nn::utils::clip_grad_norm_(network_->parameters(),
                                                        max_gradient_norm_);
  if (std::isfinite(norm)) adam_.step();
  adam_.zero_grad();
  return norm;
}

void Descent::set_learning_rate(double rate) {
  for (torch::optim::OptimizerParamGroup& group : adam_.param_groups()) {
    group.options().set_lr(rate);
  }
}

std::string Descent::Serialize() const {
  torch::serialize::OutputArchive archive;
  adam_.save(archive);
  torch::Tensor rng = torch::empty({4}, torch::kInt64);
  for (int64_t i = 0; i < 4; ++i) {
    rng[i] = static_cast<int64_t>(rng_.state()[static_cast<size_t>(i)]);
  }
  archive.write("rng", rng);
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

absl::Status Descent::Parse(absl::string_view bytes) {
  const absl::Status refused =
      absl::InvalidArgumentError("not the state of a gradient descent");
  if (!IsIntactArchive(bytes)) return refused;
  try {
    std::istringstream in{std::string(bytes)};
    torch::serialize::InputArchive archive;
    archive.load_from(in);
    adam_.load(archive);
    torch::Tensor rng;
    archive.read("rng", rng);
    Rng::State state;
    for (int64_t i = 0; i < 4; ++i) {
      state[static_cast<size_t>(i)] =
          static_cast<uint64_t>(rng[i].item<int64_t>());
    }
    rng_.set_state(state);
    return absl::OkStatus();
  } catch (const std::exception&) {
    return refused;
  }
}

}  // namespace hone::learning

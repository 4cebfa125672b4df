#include "learning/models/weights_archive.h"

namespace hone::learning {

absl::Status WrongKindOfPolicy(bool of_assignments) {
  return absl::InvalidArgumentError(
      of_assignments ? "weights of a policy for assignments, expected one for "
                       "sequences"
                     : "weights of a policy for sequences, expected one for "
                       "assignments");
}

absl::Status NotWeights() {
  return absl::InvalidArgumentError(
      "not the weights of a policy, expected a file that `hone train` wrote");
}

void CopyParameters(const torch::nn::Module& from, torch::nn::Module& to) {
  torch::NoGradGuard no_grad;
  const auto source = from.parameters();
  const auto target = to.parameters();
  for (size_t i = 0; i < target.size(); ++i) target[i].copy_(source[i]);
}

std::vector<std::string> CopyMatchingParameters(const torch::nn::Module& from,
                                                torch::nn::Module& to) {
  torch::NoGradGuard no_grad;
  const auto source = from.named_parameters();
  std::vector<std::string> left;
  for (auto& parameter : to.named_parameters()) {
    const torch::Tensor* same = source.find(parameter.key());
    if (same != nullptr && same->sizes() == parameter.value().sizes()) {
      parameter.value().copy_(*same);
    } else {
      left.push_back(parameter.key());
    }
  }
  return left;
}

}  // namespace hone::learning

#include "learning/models/weights_archive.h"

#include "absl/strings/str_cat.h"

namespace hone::learning {

absl::Status NotWeights(ModelKind expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("not the weights of a ",
                   expected == ModelKind::kCostModel ? "cost model" : "policy",
                   ", expected a file that `hone train` wrote"));
}

absl::Status WrongKind(torch::serialize::InputArchive& archive,
                       ModelKind expected) {
  absl::string_view is;
  if (HasSpec<GameSpec>(archive)) {
    is = "policy for sequences";
  } else if (HasSpec<AssignmentSpec>(archive)) {
    is = "policy for assignments";
  } else if (HasSpec<CostSpec>(archive)) {
    is = "cost model";
  } else {
    return NotWeights(expected);
  }
  absl::string_view wanted;
  switch (expected) {
    case ModelKind::kSequencePolicy:
      wanted = "one for sequences";
      break;
    case ModelKind::kAssignmentPolicy:
      wanted = "one for assignments";
      break;
    case ModelKind::kCostModel:
      wanted = "those of a cost model";
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("weights of a ", is, ", expected ", wanted));
}

void CopyParameters(const torch::nn::Module& from, torch::nn::Module& to) {
  torch::NoGradGuard no_grad;
  const auto source = from.parameters();
  const auto target = to.parameters();
  for (size_t i = 0; i < target.size(); ++i) target[i].copy_(source[i]);
  const auto source_buffers = from.buffers();
  const auto target_buffers = to.buffers();
  for (size_t i = 0; i < target_buffers.size(); ++i) {
    target_buffers[i].copy_(source_buffers[i]);
  }
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

#ifndef HONE_OPTIMIZERS_POLICIES_INITIAL_MODEL_H_
#define HONE_OPTIMIZERS_POLICIES_INITIAL_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include "base/status_macros.h"
#include "learning/networks/encoder_options.h"
#include "optimizers/policies/training.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {

// Returns the model, of type M (a Model or an AssignmentModel), that a training
// starts from: random weights of options.architecture, or those of
// options.initial_weights. Where those are of another architecture or spec, a
// training takes what has the same name and shape, if options.partial says so.
// Errors: InvalidArgument for an architecture that is none, or initial weights
// that do not match; those of ReadWeights.
template <typename M, typename Spec>
absl::StatusOr<std::unique_ptr<M>> InitialModel(
    const Spec& spec, const TrainingOptions& options) {
  HONE_ASSIGN_OR_RETURN(const learning::EncoderOptions architecture,
                        learning::ParseEncoderOptions(options.architecture));
  auto model = std::make_unique<M>(spec, architecture, options.seed);
  const std::string& path = options.initial_weights;
  if (path.empty()) return model;
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWeights(path));
  absl::StatusOr<std::unique_ptr<M>> initial = M::Parse(bytes, spec);
  absl::Status misfit = initial.status();
  if (!initial.ok() && options.partial) initial = M::ParseAsSaved(bytes);
  if (!initial.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", initial.status().message()));
  }
  if (misfit.ok() &&
      (options.architecture.empty() || (*initial)->options() == architecture)) {
    return initial;
  }
  if (misfit.ok()) {
    misfit = absl::InvalidArgumentError(
        absl::StrCat("the architecture is ",
                     learning::PrintEncoderOptions((*initial)->options()),
                     ", expected ", learning::PrintEncoderOptions(architecture),
                     "; --partial takes what fits"));
  }
  if (!options.partial) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", misfit.message()));
  }
  const std::vector<std::string> left = model->CopyMatching(**initial);
  if (options.on_note) {
    options.on_note(absl::StrCat(path, ": all but these weights are taken: ",
                                 absl::StrJoin(left, ", ")));
  }
  return model;
}

// Gives `model` the weights that Serialize wrote. Errors: InvalidArgument for
// bytes that are no weights for its spec, or of another architecture.
template <typename M>
absl::Status RestoreModel(absl::string_view bytes, M& model) {
  HONE_ASSIGN_OR_RETURN(const auto saved, M::Parse(bytes, model.spec()));
  if (saved->options() != model.options()) {
    return absl::InvalidArgumentError("weights of another architecture");
  }
  model.CopyWeights(*saved);
  return absl::OkStatus();
}

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_INITIAL_MODEL_H_

#ifndef HONE_LEARNING_MODELS_WEIGHTS_ARCHIVE_H_
#define HONE_LEARNING_MODELS_WEIGHTS_ARCHIVE_H_

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <torch/torch.h>

#include "learning/models/spec_archive.h"
#include "learning/networks/archive_check.h"
#include "learning/networks/matched_weights.h"
#include "learning/networks/spec_match.h"

// What the models of all kinds do with their weights.
namespace hone::learning {

// The kinds of model.
enum class ModelKind { kSequencePolicy, kAssignmentPolicy, kCostModel };

template <typename Spec>
inline constexpr ModelKind kKindOf = ModelKind::kCostModel;
template <>
inline constexpr ModelKind kKindOf<GameSpec> = ModelKind::kSequencePolicy;
template <>
inline constexpr ModelKind kKindOf<AssignmentSpec> =
    ModelKind::kAssignmentPolicy;

// Returns the error for bytes that are no weights, where a model of the kind
// `expected` is.
absl::Status NotWeights(ModelKind expected);
// The same for weights of another kind of model.
absl::Status WrongKind(torch::serialize::InputArchive& archive,
                       ModelKind expected);

// Returns the model of a type M, for specs of a type Spec, that
// SerializeWeights wrote: for `spec`, or, where that is null, for the spec that
// was saved. Errors: those of M::Parse.
template <typename M, typename Spec>
absl::StatusOr<std::unique_ptr<M>> ParseWeights(absl::string_view bytes,
                                                const Spec* spec) {
  constexpr ModelKind kKind = kKindOf<Spec>;
  if (!IsIntactArchive(bytes)) return NotWeights(kKind);
  try {
    std::istringstream in{std::string(bytes)};
    torch::serialize::InputArchive archive;
    archive.load_from(in);
    if (!HasSpec<Spec>(archive)) return WrongKind(archive, kKind);
    const SavedSpec<Spec> saved = ReadSpec<Spec>(archive);
    if (spec == nullptr) spec = &saved.spec;
    const auto match = MatchSpecs(saved.spec, *spec);
    if (!match.ok()) return match.status();
    auto model = std::make_unique<M>(*spec, saved.options, 0);
    LoadMatched(*model->network(), archive,
                [&] { model->network()->Select(*match); });
    return model;
  } catch (const std::exception&) {
    // Torch's messages are stack traces.
    return NotWeights(kKind);
  }
}

template <typename Spec, typename Options>
std::string SerializeWeights(const Spec& spec, const Options& options,
                             const torch::nn::Module& network) {
  torch::serialize::OutputArchive archive;
  WriteSpec(spec, options, archive);
  network.save(archive);
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

// Copies the parameters and buffers of a network of the same spec and
// architecture.
void CopyParameters(const torch::nn::Module& from, torch::nn::Module& to);
// Copies those that have the same name and shape. Returns the names of the
// others of `to`.
std::vector<std::string> CopyMatchingParameters(const torch::nn::Module& from,
                                                torch::nn::Module& to);

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_WEIGHTS_ARCHIVE_H_

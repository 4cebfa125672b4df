#ifndef HONE_LEARNING_MODELS_SPEC_ARCHIVE_H_
#define HONE_LEARNING_MODELS_SPEC_ARCHIVE_H_

#include <torch/torch.h>

#include "learning/assignments/value_view.h"
#include "learning/cost/cost_options.h"
#include "learning/cost/cost_samples.h"
#include "learning/games/game.h"
#include "learning/networks/encoder_options.h"

namespace hone::learning {

// A model's inputs, what it decides about or predicts and its architecture, as
// saved beside its weights.
void WriteSpec(const GameSpec& spec, const EncoderOptions& options,
               torch::serialize::OutputArchive& archive);
void WriteSpec(const AssignmentSpec& spec, const EncoderOptions& options,
               torch::serialize::OutputArchive& archive);
void WriteSpec(const CostSpec& spec, const CostOptions& options,
               torch::serialize::OutputArchive& archive);

template <typename Spec>
struct SavedSpec {
  Spec spec;
  EncoderOptions options;
};
template <>
struct SavedSpec<CostSpec> {
  CostSpec spec;
  CostOptions options;
};

// Reads what WriteSpec wrote. Throws std::exception if the archive has none.
template <typename Spec>
SavedSpec<Spec> ReadSpec(torch::serialize::InputArchive& archive);

// Returns true if the archive has the weights of a model for specs of this
// type.
template <typename Spec>
bool HasSpec(torch::serialize::InputArchive& archive);

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_SPEC_ARCHIVE_H_

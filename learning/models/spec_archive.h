#ifndef HONE_LEARNING_MODELS_SPEC_ARCHIVE_H_
#define HONE_LEARNING_MODELS_SPEC_ARCHIVE_H_

#include <torch/torch.h>

#include "learning/games/game.h"
#include "learning/networks/encoder_options.h"

namespace hone::learning {

// A policy's inputs, its moves and its architecture, as saved beside its
// weights.
void WriteSpec(const GameSpec& spec, const EncoderOptions& options,
               torch::serialize::OutputArchive& archive);

struct SavedSpec {
  GameSpec spec;
  EncoderOptions options;
};

// Throws std::exception if the archive has none.
SavedSpec ReadSpec(torch::serialize::InputArchive& archive);

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_SPEC_ARCHIVE_H_

#ifndef HONE_LEARNING_MODELS_FROZEN_MODEL_H_
#define HONE_LEARNING_MODELS_FROZEN_MODEL_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "learning/games/scorer.h"
#include "learning/models/model.h"

namespace hone::learning {

// A model with constant weights. It caches encodings, so a graph is encoded
// once even if a search returns to its state. Threads: Score is thread-safe.
class FrozenModel final : public Scorer {
 public:
  explicit FrozenModel(std::unique_ptr<const Model> model);
  ~FrozenModel() override;

  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override;

 private:
  class Encoder;
  const std::unique_ptr<const Model> model_;
  const std::unique_ptr<Encoder> encoder_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_FROZEN_MODEL_H_

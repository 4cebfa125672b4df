#ifndef HONE_LEARNING_MODELS_MODEL_H_
#define HONE_LEARNING_MODELS_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/games/game.h"
#include "learning/games/scorer.h"
#include "learning/networks/encoder_options.h"

namespace hone::learning {

class MoveNetworkImpl;

// A policy for a sequential problem: a network with its weights. Hides Torch.
//
// Threads: Score is thread-safe while nothing changes the weights.
class Model final : public Scorer {
 public:
  // Makes random weights that score all moves equally. Deterministic by seed.
  Model(const GameSpec& spec, const EncoderOptions& options, uint64_t seed);
  ~Model() override;

  // Returns the model that Serialize wrote, with its architecture, for `spec`:
  // the weights of moves, node kinds and features are matched by name
  // (MatchSpecs), so that adding some, removing some or reordering them needs
  // no training.
  // Errors: InvalidArgument if `bytes` are no model, or one whose spec does not
  // match.
  static absl::StatusOr<std::unique_ptr<Model>> Parse(absl::string_view bytes,
                                                      const GameSpec& spec);
  // The same for the spec that the weights were saved with.
  static absl::StatusOr<std::unique_ptr<Model>> ParseAsSaved(
      absl::string_view bytes);
  std::string Serialize() const;

  // Copies the weights of a model of the same spec and architecture.
  void CopyWeights(const Model& other);
  // Copies the parameters that `other`, of the same spec, has with the same
  // name and shape. Returns the names of the others of this model.
  std::vector<std::string> CopyMatching(const Model& other);

  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override;

  const GameSpec& spec() const { return spec_; }
  const EncoderOptions& options() const { return options_; }
  const std::shared_ptr<MoveNetworkImpl>& network() const { return network_; }

 private:
  const GameSpec spec_;
  const EncoderOptions options_;
  std::shared_ptr<MoveNetworkImpl> network_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_MODEL_H_

#ifndef HONE_OPTIMIZERS_POLICIES_MODEL_MODEL_H_
#define HONE_OPTIMIZERS_POLICIES_MODEL_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "optimizers/policies/game/game.h"
#include "optimizers/policies/game/scorer.h"

namespace hone::optimizers::policies {

class NetworkImpl;

// A network with its weights; hides Torch.
//
// Threads: Score is thread-safe while nothing changes the weights.
class Model final : public Scorer {
 public:
  // Makes random weights that score all moves equally. Deterministic by seed.
  Model(const GameSpec& spec, uint64_t seed);
  ~Model() override;

  // Returns the model that Serialize wrote, for `spec`: the weights of moves,
  // node kinds and global features are matched by name (MatchSpecs), so that
  // adding some, removing some or reordering them needs no training.
  // Errors: InvalidArgument if `bytes` are no model, or one whose spec does not
  // match.
  static absl::StatusOr<std::unique_ptr<Model>> Parse(absl::string_view bytes,
                                                      const GameSpec& spec);
  std::string Serialize() const;

  // Copies the weights of a model of the same spec.
  void CopyWeights(const Model& other);

  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override;

  const GameSpec& spec() const { return spec_; }
  const std::shared_ptr<NetworkImpl>& network() const { return network_; }

 private:
  const GameSpec spec_;
  std::shared_ptr<NetworkImpl> network_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_MODEL_MODEL_H_

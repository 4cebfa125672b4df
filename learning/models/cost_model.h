#ifndef HONE_LEARNING_MODELS_COST_MODEL_H_
#define HONE_LEARNING_MODELS_COST_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/cost/cost_options.h"
#include "learning/cost/cost_predictor.h"
#include "learning/cost/cost_samples.h"

namespace hone::learning {

class CostForward;
class CostNetworkImpl;

// A cost model: a network with its weights. Hides Torch.
class CostModel final : public CostPredictor {
 public:
  // Makes random weights that predict 0. `spec` must pass CheckCostSpec.
  // Deterministic by seed.
  CostModel(const CostSpec& spec, const CostOptions& options, uint64_t seed);
  ~CostModel() override;

  // Returns the model that Serialize wrote, with its architecture, for `spec`,
  // matched by name as Model::Parse does; kinds of nodes that it does not know
  // are like its unknown kind.
  // Errors: InvalidArgument if `bytes` are no cost model, or one whose spec
  // does not match or whose features have another version.
  static absl::StatusOr<std::unique_ptr<CostModel>> Parse(
      absl::string_view bytes, const CostSpec& spec);
  // The same for the spec that the weights were saved with.
  static absl::StatusOr<std::unique_ptr<CostModel>> ParseAsSaved(
      absl::string_view bytes);

  const CostSpec& spec() const override { return spec_; }
  absl::StatusOr<CostPredictions> Predict(
      int32_t head, absl::Span<const CostQuery> queries) const override;
  absl::Status Refine(absl::Span<const CostGroup> groups) override;
  std::string Serialize() const override;
  std::unique_ptr<CostPredictor> Clone() const override;

  // Copies the weights of a model of the same spec and architecture.
  void CopyWeights(const CostModel& other);

  // Predicts by Torch where Predict may use plain loops, for tests. The queries
  // must fit the spec.
  CostPredictions PredictByTorch(int32_t head,
                                 absl::Span<const CostQuery> queries) const;

  const CostOptions& options() const { return options_; }
  // Whoever changes the network's weights calls WeightsChanged afterwards.
  const std::shared_ptr<CostNetworkImpl>& network() const { return network_; }
  void WeightsChanged();

 private:
  class Runner;

  CostPredictions PredictBy(const CostForward& forward, int32_t head,
                            absl::Span<const CostQuery> queries) const;
  // The weights for plain loops, made anew after a change; null if they do not
  // support the architecture.
  std::shared_ptr<const CostForward> Forward() const;

  const CostSpec spec_;
  const CostOptions options_;
  std::shared_ptr<CostNetworkImpl> network_;
  const std::unique_ptr<Runner> runner_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_COST_MODEL_H_

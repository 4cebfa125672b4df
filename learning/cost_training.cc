#include "learning/cost_training.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <malloc.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "learning/cost_learner.h"
#include "learning/cost_training_state.h"
#include "learning/models/cost_model.h"

namespace hone::learning {
namespace {

class Trainer {
 public:
  Trainer(const CostTrainingSet& set, const CostTraining& training)
      : set_(set), training_(training), start_(SystemClock().Monotonic()) {}

  absl::StatusOr<CostTrainingResult> Run() {
    // Tensors of megabytes come and go with every step; handing their pages
    // back to the system each time takes longer than the arithmetic.
    // NOLINTBEGIN(concurrency-mt-unsafe): both are written under malloc's lock.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    // NOLINTEND(concurrency-mt-unsafe)
    HONE_RETURN_IF_ERROR(CheckCostSpec(set_.spec));
    HONE_RETURN_IF_ERROR(CheckGroups(set_.spec, set_.training));
    HONE_RETURN_IF_ERROR(CheckGroups(set_.spec, set_.validation));
    if (set_.training.empty()) {
      return absl::InvalidArgumentError(
          "no kernels to train on, expected 1 or more");
    }
    HONE_RETURN_IF_ERROR(MakeModel());
    learner_ = std::make_unique<CostLearner>(*model_, training_.options);
    HONE_RETURN_IF_ERROR(Resume());
    while (state_.epoch < training_.options.epochs &&
           Elapsed() < training_.time) {
      Epoch();
      HONE_RETURN_IF_ERROR(Validate());
      HONE_RETURN_IF_ERROR(Save());
    }
    if (state_.best_weights.empty()) HONE_RETURN_IF_ERROR(Validate());
    return Finish();
  }

 private:
  absl::Duration Elapsed() const {
    return SystemClock().Monotonic() - start_ + absl::Seconds(state_.seconds);
  }

  const std::vector<CostGroup>& Held() const {
    return set_.validation.empty() ? set_.training : set_.validation;
  }

  absl::Status MakeModel() {
    if (training_.initial_weights.empty()) {
      model_ = std::make_unique<CostModel>(set_.spec, training_.architecture,
                                           training_.options.seed);
      return absl::OkStatus();
    }
    std::ifstream in(training_.initial_weights, std::ios::binary);
    if (!in) {
      return absl::NotFoundError(
          absl::StrCat(training_.initial_weights, ": cannot be read"));
    }
    initial_.assign(std::istreambuf_iterator<char>(in), {});
    absl::StatusOr<std::unique_ptr<CostModel>> model =
        CostModel::Parse(initial_, set_.spec);
    if (!model.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          training_.initial_weights, ": ", model.status().message()));
    }
    model_ = *std::move(model);
    return absl::OkStatus();
  }

  absl::Status Resume() {
    const std::string fingerprint =
        CostTrainingFingerprint(set_, training_, initial_);
    HONE_ASSIGN_OR_RETURN(
        std::optional<CostTrainingState> state,
        ReadCostTrainingState(training_.state_file, fingerprint));
    if (!state) {
      state_.fingerprint = fingerprint;
      if (initial_.empty()) learner_->FitScales(set_.training);
      return absl::OkStatus();
    }
    state_ = *std::move(state);
    HONE_RETURN_IF_ERROR(Load(state_.weights, training_.state_file));
    const absl::Status restored = learner_->ParseDescent(state_.descent);
    if (restored.ok()) return restored;
    return absl::InvalidArgumentError(
        absl::StrCat(training_.state_file, ": ", restored.message()));
  }

  absl::Status Load(const std::string& weights, const std::string& from) {
    absl::StatusOr<std::unique_ptr<CostModel>> model =
        CostModel::Parse(weights, set_.spec);
    if (!model.ok() || (*model)->options() != model_->options()) {
      return absl::InvalidArgumentError(
          absl::StrCat(from,
                       ": not the state of a training, expected one that `hone "
                       "train` wrote"));
    }
    model_->CopyWeights(**model);
    return absl::OkStatus();
  }

  absl::Status Save() {
    if (training_.state_file.empty()) return absl::OkStatus();
    CostTrainingState saved = state_;
    saved.seconds = absl::ToDoubleSeconds(Elapsed());
    saved.weights = model_->Serialize();
    saved.descent = learner_->SerializeDescent();
    return WriteCostTrainingState(training_.state_file, saved);
  }

  // Draws samples of a group, all if there are few, in their order.
  CostLearner::Drawn Draw(const CostGroup& group, Rng& rng) const {
    CostLearner::Drawn drawn = {&group, {}};
    drawn.samples.resize(group.samples.size());
    std::iota(drawn.samples.begin(), drawn.samples.end(), size_t{0});
    const auto most = static_cast<size_t>(training_.options.samples_per_group);
    if (drawn.samples.size() <= most) return drawn;
    for (size_t i = 0; i < most; ++i) {
      std::swap(drawn.samples[i],
                drawn.samples[i + rng.Below(drawn.samples.size() - i)]);
    }
    drawn.samples.resize(most);
    std::sort(drawn.samples.begin(), drawn.samples.end());
    return drawn;
  }

  // The indices of the training groups in random order, but groups of one graph
  // that follow each other stay together: a minibatch encodes the graph once.
  std::vector<size_t> Shuffled(Rng& rng) const {
    const auto graph_of = [this](size_t group) {
      return set_.training[group].samples.front().graph.get();
    };
    std::vector<size_t> begins;  // of runs of one graph
    for (size_t i = 0; i < set_.training.size(); ++i) {
      if (i == 0 || graph_of(i) != graph_of(i - 1)) begins.push_back(i);
    }
    std::shuffle(begins.begin(), begins.end(), rng);
    std::vector<size_t> order;
    order.reserve(set_.training.size());
    for (const size_t begin : begins) {
      size_t i = begin;
      do {
        order.push_back(i++);
      } while (i < set_.training.size() && graph_of(i) == graph_of(begin));
    }
    return order;
  }

  double LearningRate(int64_t step, int64_t steps) const {
    const double done =
        (static_cast<double>(step) + 1) / static_cast<double>(steps);
    const double warmup = training_.options.warmup;
    const double rate = training_.options.learning_rate;
    if (done < warmup) return rate * done / warmup;
    return rate *
           (1 + std::cos(std::numbers::pi * (done - warmup) /
                         std::max(1 - warmup, 1e-9))) /
           2;
  }

  void Epoch() {
    const auto began = SystemClock().Monotonic();
    // Drawn by the epoch's number, so that going on later draws the same.
    Rng rng(training_.options.seed * 1000003 +
            static_cast<uint64_t>(state_.epoch) + 1);
    const std::vector<size_t> order = Shuffled(rng);
    const auto size = static_cast<size_t>(training_.options.groups_per_batch);
    const auto batches = static_cast<int64_t>((order.size() + size - 1) / size);
    const int64_t steps = batches * training_.options.epochs;
    int64_t step = batches * state_.epoch;
    double loss = 0, samples = 0;
    for (size_t begin = 0; begin < order.size(); begin += size) {
      std::vector<CostLearner::Drawn> minibatch;
      for (size_t i = begin; i < std::min(begin + size, order.size()); ++i) {
        minibatch.push_back(Draw(set_.training[order[i]], rng));
        samples += static_cast<double>(minibatch.back().samples.size());
      }
      loss += learner_->Update(minibatch, LearningRate(step++, steps));
    }
    model_->WeightsChanged();
    ++state_.epoch;
    progress_.loss = loss / static_cast<double>(batches);
    progress_.samples_per_second =
        samples /
        std::max(absl::ToDoubleSeconds(SystemClock().Monotonic() - began),
                 1e-9);
  }

  // Keeps the weights if they do better than any before.
  absl::Status Validate() {
    HONE_ASSIGN_OR_RETURN(progress_.metrics,
                          EvaluateCostModel(*model_, Held()));
    progress_.error = SelectionError(set_.spec, progress_.metrics);
    if (state_.best_weights.empty() || progress_.error < state_.best_error) {
      state_.best_error = progress_.error;
      state_.best_weights = model_->Serialize();
    }
    progress_.epoch = state_.epoch;
    progress_.seconds = absl::ToDoubleSeconds(Elapsed());
    progress_.best_error = state_.best_error;
    if (training_.on_progress) training_.on_progress(progress_);
    return absl::OkStatus();
  }

  absl::StatusOr<CostTrainingResult> Finish() {
    HONE_RETURN_IF_ERROR(Load(state_.best_weights, training_.state_file));
    learner_->Finish(set_.training, set_.validation);
    CostTrainingResult result = {state_.epoch, state_.best_error, {}};
    HONE_ASSIGN_OR_RETURN(result.metrics, EvaluateCostModel(*model_, Held()));
    HONE_RETURN_IF_ERROR(
        WriteFileAtomically(training_.weights_file, model_->Serialize()));
    std::error_code ignored;
    std::filesystem::remove(training_.state_file, ignored);
    return result;
  }

  const CostTrainingSet& set_;
  const CostTraining& training_;
  const absl::Duration start_;
  std::string initial_;  // the bytes of the initial weights
  std::unique_ptr<CostModel> model_;
  std::unique_ptr<CostLearner> learner_;
  CostTrainingState state_;
  CostProgress progress_;
};

}  // namespace

absl::StatusOr<CostTrainingResult> TrainCostModel(
    const CostTrainingSet& set, const CostTraining& training) {
  return Trainer(set, training).Run();
}

}  // namespace hone::learning

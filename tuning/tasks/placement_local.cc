#include "tuning/tasks/placement_local.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "graphs/placement_state.h"

namespace hone::tuning {
namespace {

class PlacementLocal final : public space::LocalState {
 public:
  PlacementLocal(const graphs::DeviceGraph& graph,
                 graphs::Contiguity contiguity,
                 std::shared_ptr<const graphs::PlacementMoves> moves,
                 std::shared_ptr<std::atomic<int64_t>> evaluations,
                 absl::Span<const int32_t> assignment)
      : contiguity_(contiguity),
        moves_(std::move(moves)),
        evaluations_(std::move(evaluations)),
        state_(graph, contiguity, assignment),
        score_(Score()) {}

  absl::Span<const int32_t> values() const override {
    return state_.assignment();
  }
  space::LocalScore score() const override { return score_; }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    ++*evaluations_;
    tried_.assign(changes.begin(), changes.end());
    const graphs::PlacementState::Sums sums = state_.sums();
    inverse_.clear();
    for (const space::Change& change : tried_) {
      const auto node = static_cast<graphs::NodeIndex>(change.variable);
      inverse_.push_back({change.variable, state_.assignment()[node]});
      state_.Move(node, change.value);
    }
    tried_score_ = Score();
    Make(inverse_);
    state_.set_sums(sums);
    return tried_score_;
  }

  void Commit() override {
    Make(tried_);
    tried_.clear();
    score_ = tried_score_;
    if (++commits_ % kRefresh == 0) {
      const std::vector<int32_t> assignment(values().begin(), values().end());
      state_.set_sums(
          graphs::PlacementState(state_.graph(), contiguity_, assignment)
              .sums());
      score_ = Score();
    }
  }

  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    moves_->Propose(state_, rng, proposed_);
    changes.clear();
    for (const auto& [node, device] : proposed_) {
      changes.push_back({static_cast<int32_t>(node), device});
    }
  }

 private:
  // Commits after which sums are made anew, so that rounding does not add up.
  static constexpr int64_t kRefresh = 1 << 16;

  space::LocalScore Score() const {
    return {{state_.violation(), state_.max_load()},
            graphs::PlacementEnergy(state_.loads())};
  }
  void Make(const std::vector<space::Change>& changes) {
    for (const space::Change& change : changes) {
      state_.Move(static_cast<graphs::NodeIndex>(change.variable),
                  change.value);
    }
  }

  const graphs::Contiguity contiguity_;
  const std::shared_ptr<const graphs::PlacementMoves> moves_;
  const std::shared_ptr<std::atomic<int64_t>> evaluations_;
  graphs::PlacementState state_;
  space::LocalScore score_;
  std::vector<space::Change> tried_;
  std::vector<space::Change> inverse_;
  space::LocalScore tried_score_;
  std::vector<graphs::PlacementMoves::NodeMove> proposed_;
  int64_t commits_ = 0;
};

}  // namespace

std::unique_ptr<space::LocalState> MakePlacementLocal(
    const graphs::DeviceGraph& graph, graphs::Contiguity contiguity,
    std::shared_ptr<const graphs::PlacementMoves> moves,
    std::shared_ptr<std::atomic<int64_t>> evaluations,
    absl::Span<const int32_t> assignment) {
  return std::make_unique<PlacementLocal>(graph, contiguity, std::move(moves),
                                          std::move(evaluations), assignment);
}

}  // namespace hone::tuning

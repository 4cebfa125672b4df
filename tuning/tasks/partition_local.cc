#include "tuning/tasks/partition_local.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/placement_moves.h"
#include "tuning/tasks/partition_moves.h"
#include "tuning/tasks/partition_proposals.h"

namespace hone::tuning {
namespace {

// The weight of the loads by the analytical model beside a simulated interval.
constexpr double kLoadWeight = 0.02;

class PartitionLocal final : public space::LocalState {
 public:
  PartitionLocal(const PartitionProblem& problem,
                 absl::Span<const int32_t> chips)
      : problem_(problem),
        graph_(problem.graph()),
        values_(chips.begin(), chips.end()),
        scored_(Score(values_, problem.MeasureStart(values_))),
        proposals_(problem),
        moves_(problem.graph(),
               problem.objective() == PartitionObjective::kSimulated
                   ? problem.package().op_seconds * 1e3
                   : 0) {
    Start();
  }

  absl::Span<const int32_t> values() const override { return values_; }
  space::LocalScore score() const override { return scored_.score; }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    tried_ = values_;
    for (const space::Change& change : changes) {
      tried_[static_cast<size_t>(change.variable)] = change.value;
    }
    tried_scored_ = Score(tried_, problem_.MeasureTry(tried_));
    return tried_scored_.score;
  }

  void Commit() override {
    values_ = tried_;
    scored_ = tried_scored_;
    Start();
  }

  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    proposals_.Propose(rng, changes);
  }

  void DescribeMove(absl::Span<const space::Change> changes,
                    std::vector<float>& features) override {
    if (!is_described_) {
      moves_.Start(values_);
      is_described_ = true;
    }
    moves_.Describe(changes, features);
  }

 private:
  struct Scored {
    space::LocalScore score;
    graphs::ChipLoads loads;
  };

  Scored Score(absl::Span<const int32_t> chips,
               const space::Measurement& measurement) const {
    Scored scored;
    scored.loads = graphs::ComputeChipLoads(graph_, chips);
    std::vector<double> totals;
    totals.reserve(scored.loads.chips.size());
    for (const graphs::ChipLoad& load : scored.loads.chips) {
      totals.push_back(load.total());
    }
    const double energy = graphs::PlacementEnergy(totals);
    scored.score = {space::RankOf(measurement),
                    problem_.objective() == PartitionObjective::kModelled
                        ? energy
                        : measurement.cost + kLoadWeight * energy};
    return scored;
  }

  void Start() {
    proposals_.Start(values_, scored_.loads);
    is_described_ = false;
  }

  const PartitionProblem& problem_;
  const graphs::PartitionGraph& graph_;
  std::vector<int32_t> values_;
  Scored scored_;
  std::vector<int32_t> tried_;
  Scored tried_scored_;
  PartitionProposals proposals_;
  PartitionMoves moves_;
  bool is_described_ = false;  // moves_ starts from values_
};

}  // namespace

std::unique_ptr<space::LocalState> MakePartitionLocal(
    const PartitionProblem& problem, absl::Span<const int32_t> chips) {
  return std::make_unique<PartitionLocal>(problem, chips);
}

}  // namespace hone::tuning

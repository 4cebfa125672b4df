#include "graphs/stage_search.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "graphs/block_set.h"

namespace hone::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Tolerance of bounds for rounding in sums.
constexpr double kSlack = 1 + 1e-9;
constexpr size_t kMaxTableBytes = size_t{1} << 30;
// Pairs of ideals between two calls of `stop`.
constexpr int64_t kStopInterval = 1 << 14;

// The value of an ideal with a number of devices of each kind, and the stage
// that it ends with.
struct Cell {
  double max_load = kInfinity;
  uint32_t before = 0;  // the ideal without the stage
  bool on_cpu = false;  // the device of the stage
};

// The least time that remains for the accelerators when the blocks of an ideal
// are done, given what CPU cores can take over.
class RemainingWork {
 public:
  RemainingWork(const BlockGraph& blocks, bool has_cpus,
                const IdealLattice& lattice)
      : remaining_(lattice.size()) {
    std::vector<double> work;
    double total = 0;
    for (const Block& block : blocks.blocks) {
      double latency =
          block.supported_on_accelerator ? block.accelerator_latency : 0;
      if (has_cpus && latency > 0) {
        if (block.cpu_latency == 0) {
          latency = 0;  // a CPU core can take it for nothing
        } else {
          relief_ = std::max(relief_, latency / block.cpu_latency);
        }
      }
      work.push_back(latency);
      total += latency;
    }
    remaining_[0] = total;
    for (uint32_t ideal = 0; ideal < lattice.size(); ++ideal) {
      for (const IdealLattice::Step& step : lattice.steps(ideal)) {
        remaining_[step.ideal] = remaining_[ideal] - work[step.node];
      }
    }
  }

  // Returns true if devices that are busy for `load` each may do the rest.
  bool CanFinish(uint32_t ideal, size_t accelerators, size_t cpus,
                 double load) const {
    if (load == kInfinity) return accelerators + cpus > 0;
    const double capacity = static_cast<double>(accelerators) * load +
                            static_cast<double>(cpus) * load * relief_;
    return accelerators + cpus > 0 &&
           remaining_[ideal] <= capacity * kSlack + remaining_[0] * 1e-9;
  }

 private:
  std::vector<double> remaining_;  // [ideals]
  // The most accelerator time that a unit of CPU time can replace.
  double relief_ = 0;
};

class Search {
 public:
  Search(const BlockGraph& blocks, const DeviceLimits& limits,
         const IdealLattice& lattice, const std::function<bool()>& stop,
         BestStages& best)
      : blocks_(blocks),
        limits_(limits),
        lattice_(lattice),
        stop_(stop),
        best_(best),
        // More devices than blocks have nothing to do.
        accelerators_(std::min(static_cast<size_t>(limits.accelerators),
                               blocks.blocks.size())),
        cpus_(std::min(static_cast<size_t>(limits.cpus), blocks.blocks.size())),
        states_((accelerators_ + 1) * (cpus_ + 1)),
        remaining_(blocks, limits.cpus > 0, lattice),
        visited_(lattice.size()),
        stage_(blocks, limits) {}

  absl::Status Run() {
    if (states_ > kMaxTableBytes / sizeof(Cell) / lattice_.size()) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "the table of %d ideals and %d numbers of devices needs more than "
          "%d bytes",
          lattice_.size(), states_, kMaxTableBytes));
    }
    cells_.resize(states_ * lattice_.size());
    bound_ = best_.max_load;
    At(0, 0).max_load = 0;
    const auto full = static_cast<uint32_t>(lattice_.size() - 1);
    for (uint32_t ideal = 0; ideal < full; ++ideal) {
      GatherLiveStates(ideal);
      if (!live_.empty()) HONE_RETURN_IF_ERROR(ExtendFrom(ideal, full));
    }
    if (bound_ < best_.max_load) TakeBest(full);
    return absl::OkStatus();
  }

 private:
  struct LiveState {
    size_t state;
    double max_load;
    bool has_accelerator;
    bool has_cpu;
  };
  struct Position {
    uint32_t ideal;
    size_t next;  // step
  };

  // A state is the number of devices in use: accelerators + cpus * stride.
  size_t stride() const { return accelerators_ + 1; }
  Cell& At(uint32_t ideal, size_t state) {
    return cells_[ideal * states_ + state];
  }

  // The states of `ideal` from which a better pipeline may come: below the
  // bound, not worse than one with fewer devices, and with enough devices left.
  void GatherLiveStates(uint32_t ideal) {
    live_.clear();
    least_.assign(states_, kInfinity);
    for (size_t state = 0; state < states_; ++state) {
      const size_t accelerators = state % stride();
      const size_t cpus = state / stride();
      const double load = At(ideal, state).max_load;
      double fewer = kInfinity;
      if (accelerators > 0) fewer = std::min(fewer, least_[state - 1]);
      if (cpus > 0) fewer = std::min(fewer, least_[state - stride()]);
      least_[state] = std::min(fewer, load);
      if (load >= bound_ || load >= fewer) continue;
      if (!remaining_.CanFinish(ideal, accelerators_ - accelerators,
                                cpus_ - cpus, bound_)) {
        continue;
      }
      live_.push_back(
          {state, load, accelerators < accelerators_, cpus < cpus_});
    }
  }

  // Tries each ideal that contains `start` as the end of the stage after it.
  // The walk adds one block at a time, and goes no further where the stage has
  // become too long for any device.
  absl::Status ExtendFrom(uint32_t start, uint32_t full) {
    walk_.assign(1, {start, 0});
    visited_[start] = start + 1;
    while (!walk_.empty()) {
      Position& top = walk_.back();
      const absl::Span<const IdealLattice::Step> steps =
          lattice_.steps(top.ideal);
      if (top.next == steps.size()) {
        walk_.pop_back();
        if (!walk_.empty()) stage_.Pop();
        continue;
      }
      const IdealLattice::Step& step = steps[top.next++];
      if (visited_[step.ideal] == start + 1) continue;
      visited_[step.ideal] = start + 1;
      if (++best_.ideal_pairs % kStopInterval == 0 && stop_ && stop_()) {
        return absl::CancelledError("the search for a pipeline was stopped");
      }
      stage_.Push(step.node);
      if (stage_.accelerator_latency() >= bound_ &&
          stage_.cpu_load() >= bound_) {
        stage_.Pop();
        continue;
      }
      EndStage(start, step.ideal, full);
      walk_.push_back({step.ideal, 0});
    }
    return absl::OkStatus();
  }

  void EndStage(uint32_t start, uint32_t end, uint32_t full) {
    const double accelerator = stage_.accelerator_load();
    const double cpu = stage_.cpu_load();
    for (const LiveState& live : live_) {
      if (live.has_accelerator) {
        Offer(start, end, full, live.state + 1,
              std::max(live.max_load, accelerator), /*on_cpu=*/false);
      }
      if (live.has_cpu) {
        Offer(start, end, full, live.state + stride(),
              std::max(live.max_load, cpu), /*on_cpu=*/true);
      }
    }
  }

  void Offer(uint32_t start, uint32_t end, uint32_t full, size_t state,
             double load, bool on_cpu) {
    if (load >= bound_) return;
    Cell& cell = At(end, state);
    if (load >= cell.max_load) return;
    cell = {load, start, on_cpu};
    if (end == full) {
      bound_ = load;
      best_state_ = state;
    }
  }

  // Reads the stages of the best pipeline from its end.
  void TakeBest(uint32_t full) {
    best_.max_load = bound_;
    best_.device_of.assign(blocks_.blocks.size(), 0);
    size_t state = best_state_;
    uint32_t ideal = full;
    while (ideal != 0) {
      const Cell& cell = At(ideal, state);
      HONE_CHECK(cell.max_load <= bound_);
      size_t device = 0;
      if (cell.on_cpu) {
        state -= stride();
        device = static_cast<size_t>(limits_.accelerators) + state / stride();
      } else {
        state -= 1;
        device = state % stride();
      }
      // Blocks of earlier stages are overwritten further on.
      for (const NodeIndex block : lattice_.Nodes(ideal)) {
        best_.device_of[block] = static_cast<int32_t>(device);
      }
      ideal = cell.before;
    }
  }

  const BlockGraph& blocks_;
  const DeviceLimits& limits_;
  const IdealLattice& lattice_;
  const std::function<bool()>& stop_;
  BestStages& best_;
  const size_t accelerators_;
  const size_t cpus_;
  const size_t states_;
  const RemainingWork remaining_;
  std::vector<Cell> cells_;  // [ideals, states]
  // The least max load that is known; only lower ones are of interest.
  double bound_ = kInfinity;
  size_t best_state_ = 0;

  std::vector<LiveState> live_;
  std::vector<double> least_;      // [states]
  std::vector<uint32_t> visited_;  // [ideals]: last start, plus 1
  std::vector<Position> walk_;
  BlockSet stage_;
};

}  // namespace

absl::Status ImproveStages(const BlockGraph& blocks, const DeviceLimits& limits,
                           const IdealLattice& lattice,
                           const std::function<bool()>& stop,
                           BestStages& best) {
  return Search(blocks, limits, lattice, stop, best).Run();
}

}  // namespace hone::graphs

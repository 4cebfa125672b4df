#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partitions.h"
#include "graphs/topological_orders.h"

namespace hone::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint8_t kNoWay = std::numeric_limits<uint8_t>::max();

// The most places where an order is cut: pairs of them take memory.
constexpr size_t kMaxCuts = 4000;

// Positions are those of the order, which is cut in chunks of `step_`
// positions, of one where that is not too many. Rows and ends of intervals are
// chunks.
class SegmentProgram {
 public:
  SegmentProgram(const PartitionGraph& graph, absl::Span<const NodeIndex> order,
                 const StopCondition& stop, double tolerance)
      : graph_(graph),
        order_(order),
        stop_(stop),
        tolerance_(tolerance),
        step_((order.size() + kMaxCuts - 1) / kMaxCuts),
        chunks_((order.size() + step_ - 1) / step_),
        position_(order.size()),
        last_use_(order.size()) {
    for (size_t i = 0; i < order.size(); ++i) {
      position_[order[i]] = static_cast<uint32_t>(i);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      last_use_[i] = static_cast<uint32_t>(i);
      for (const NodeIndex next : graph.adjacency().successors(order[i])) {
        last_use_[i] = std::max(last_use_[i], position_[next]);
      }
    }
  }

  std::optional<Partition> Run() {
    const double total = graph_.total_time();
    double heaviest = 0;
    for (const PartitionNode& node : graph_.nodes()) {
      heaviest = std::max(heaviest, node.time);
    }
    double lower = std::max(heaviest, total / graph_.chips());
    // Intervals with more work than the bound are not looked at, so the bound
    // is raised until a partition is found.
    for (double bound = 2 * lower;; bound *= 2) {
      if (!FillRows(std::min(bound, total))) return std::nullopt;
      double best = FindWay(bound >= total ? kInfinity : bound);
      if (best < kInfinity) return Improve(lower, best);
      if (bound >= total || Stopped()) return std::nullopt;
      lower = bound;
    }
  }

 private:
  // The intervals that begin at one chunk, by their lengths less 1.
  struct Row {
    std::vector<double> load;
    // The first chunk outside whose output the interval reads; the first of the
    // interval if there is none.
    std::vector<uint32_t> reads_from;
    // The least number of intervals of a way that ends with this one.
    std::vector<uint8_t> way;
  };

  bool Stopped() const { return stop_ && stop_(); }

  // Returns false if it was stopped.
  bool FillRows(double most_work) {
    rows_.assign(chunks_, {});
    read_at_.assign(order_.size(), kNowhere);
    copied_at_.assign(graph_.sources().size(), kNowhere);
    for (uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      if (chunk % 64 == 0 && Stopped()) return false;
      FillRow(chunk, most_work);
    }
    return true;
  }

  void FillRow(uint32_t chunk, double most_work) {
    Row& row = rows_[chunk];
    const auto first = static_cast<uint32_t>(chunk * step_);
    double compute = 0;
    double in = 0;
    double out = 0;
    double bytes = 0;
    uint32_t reads_from = first;
    for (uint32_t last = first; last < order_.size(); ++last) {
      const NodeIndex node = order_[last];
      compute += graph_.node(node).time;
      bytes += graph_.node(node).resident_bytes;
      for (const NodeIndex source : graph_.sources_of(node)) {
        if (std::exchange(copied_at_[source], first) != first) {
          bytes += graph_.sources()[source].resident_bytes;
          compute += graph_.sources()[source].time;
        }
      }
      if (compute > most_work * (1 + 1e-12)) break;
      if (!FitsChip(graph_, bytes)) break;
      for (const NodeIndex producer : graph_.adjacency().predecessors(node)) {
        const uint32_t from = position_[producer];
        if (from >= first) {
          if (last_use_[from] == last) {
            out -= graph_.node(producer).transfer_time;
          }
        } else {
          reads_from = std::min(reads_from, from);
          if (std::exchange(read_at_[from], first) != first) {
            in += graph_.node(producer).transfer_time;
          }
        }
      }
      if (last_use_[last] > last) out += graph_.node(node).transfer_time;
      if ((last + 1) % step_ != 0 && last + size_t{1} < order_.size()) continue;
      row.load.push_back(compute + in + std::max(out, 0.0));
      row.reads_from.push_back(static_cast<uint32_t>(reads_from / step_));
    }
    row.way.resize(row.load.size());
  }

  // Returns the max load of a partition of at most `most`, and leaves its ways
  // in the rows; infinity if there is none.
  double FindWay(double most) {
    // The lowest row that reaches `first`: rows end in order.
    uint32_t lowest = 0;
    for (uint32_t first = 0; first < chunks_; ++first) {
      Row& row = rows_[first];
      while (lowest < first && lowest + rows_[lowest].load.size() < first) {
        ++lowest;
      }
      before_.clear();
      uint8_t fewest = kNoWay;
      for (uint32_t p = lowest; p < first; ++p) {
        // Rounding may end a row before that of an earlier position.
        const Row& previous = rows_[p];
        const size_t length = first - p;
        if (length <= previous.way.size()) {
          fewest = std::min(fewest, previous.way[length - 1]);
        }
        before_.push_back(fewest);
      }
      for (size_t i = 0; i < row.load.size(); ++i) {
        row.way[i] = kNoWay;
        if (row.load[i] > most) continue;
        if (first == 0) {
          row.way[i] = 1;
          continue;
        }
        // The interval before begins no later than what this one reads.
        const uint32_t latest = std::min(row.reads_from[i], first - 1);
        if (latest < lowest) continue;
        const uint8_t fewest_before = before_[latest - lowest];
        if (fewest_before < graph_.chips()) {
          row.way[i] = static_cast<uint8_t>(fewest_before + 1);
        }
      }
    }
    const Partition found = ReadWay();
    return found.empty() ? kInfinity : LoadOf(found);
  }

  // Returns the partition of the ways in the rows; empty if none reaches the
  // end.
  Partition ReadWay() const {
    std::vector<uint32_t> starts;
    auto end = static_cast<uint32_t>(chunks_);
    uint32_t latest = end - 1;
    while (end > 0) {
      uint32_t best = end;
      uint8_t fewest = kNoWay;
      for (uint32_t p = 0; p <= latest; ++p) {
        const size_t length = end - p;
        if (length <= rows_[p].way.size() &&
            rows_[p].way[length - 1] < fewest) {
          fewest = rows_[p].way[length - 1];
          best = p;
        }
      }
      if (best == end) return {};
      starts.push_back(best);
      if (best == 0) break;
      latest = std::min(rows_[best].reads_from[end - best - 1], best - 1);
      end = best;
    }
    std::reverse(starts.begin(), starts.end());
    Partition chips(order_.size());
    for (size_t c = 0; c < starts.size(); ++c) {
      const size_t stop =
          c + 1 < starts.size() ? starts[c + 1] * step_ : order_.size();
      for (size_t i = starts[c] * step_; i < stop; ++i) {
        chips[order_[i]] = static_cast<int32_t>(c);
      }
    }
    return chips;
  }

  double LoadOf(const Partition& chips) const {
    return ComputeChipLoads(graph_, chips).max_load;
  }

  // Returns the best partition, which has more than `lower`, or `found`.
  std::optional<Partition> Improve(double lower, double found) {
    Partition best = ReadWay();
    // By halves of the range, until few loads are left in it: to find the
    // middle one of all takes longer.
    while (found > lower * (1 + std::max(tolerance_, kFine))) {
      if (Stopped()) return std::nullopt;
      const double most = (lower + found) / 2;
      const double load = FindWay(most);
      if (load < kInfinity) {
        best = ReadWay();
        found = std::min(load, most);
      } else {
        lower = std::nextafter(most, kInfinity);
      }
    }
    if (tolerance_ > 0) return best;
    std::vector<double> loads;
    for (;;) {
      // What the best may have, between the two.
      loads.clear();
      for (const Row& row : rows_) {
        for (const double load : row.load) {
          if (load >= lower && load < found * (1 - 1e-12)) {
            loads.push_back(load);
          }
        }
      }
      if (loads.empty()) return best;
      if (Stopped()) return std::nullopt;
      const auto middle =
          loads.begin() + static_cast<std::ptrdiff_t>(loads.size() / 2);
      std::nth_element(loads.begin(), middle, loads.end());
      const double most = *middle;
      const double load = FindWay(most);
      if (load < kInfinity) {
        best = ReadWay();
        found = std::min(load, most);
      } else {
        lower = std::nextafter(most, kInfinity);
      }
    }
  }

  // The relative width of a range that is searched load by load.
  static constexpr double kFine = 0.01;
  static constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();

  const PartitionGraph& graph_;
  const absl::Span<const NodeIndex> order_;
  const StopCondition& stop_;
  const double tolerance_;
  const size_t step_;               // positions of a chunk
  const size_t chunks_;             // of which the last may be shorter
  std::vector<uint32_t> position_;  // [nodes]
  std::vector<uint32_t> last_use_;  // [positions]
  std::vector<Row> rows_;
  std::vector<uint8_t> before_;  // room to work
  std::vector<uint32_t> read_at_;
  std::vector<uint32_t> copied_at_;
};

}  // namespace

std::optional<Partition> PartitionSegments(const PartitionGraph& graph,
                                           absl::Span<const NodeIndex> order,
                                           const StopCondition& stop,
                                           double tolerance) {
  return SegmentProgram(graph, order, stop, tolerance).Run();
}

std::optional<Partition> PartitionByOrders(const PartitionGraph& graph,
                                           const StopCondition& stop) {
  std::optional<Partition> best;
  double best_load = kInfinity;
  for (const std::vector<NodeIndex>& order :
       {TopologicalOrder(graph.adjacency()), ReverseOrder(graph.adjacency()),
        BreadthFirstOrder(graph.adjacency())}) {
    std::optional<Partition> found = PartitionSegments(graph, order, stop);
    if (!found) continue;
    const double load = ComputeChipLoads(graph, *found).max_load;
    if (load < best_load) {
      best_load = load;
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace hone::graphs

#include "tests/backends/mcm_sim/pipeline_by_definition.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"

namespace hone::testing {

using graphs::NodeIndex;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// One sample's output of a node.
using Item = std::pair<NodeIndex, int32_t>;

class Simulation {
 public:
  Simulation(const graphs::PartitionGraph& graph,
             const graphs::Package& package, absl::Span<const int32_t> chips,
             int32_t samples)
      : graph_(graph),
        chips_(chips),
        overhead_(package.op_seconds * 1e3),
        latency_(package.link.latency_seconds * 1e3),
        done_(static_cast<size_t>(samples), 0) {
    const auto k = static_cast<size_t>(package.chips);
    todo_.resize(k);
    chip_ends_.assign(k, kNever);
    link_ends_.assign(k, kNever);
    waiting_.resize(k);
    on_link_.resize(k);
    for (int32_t sample = 0; sample < samples; ++sample) {
      std::set<std::pair<NodeIndex, int32_t>> taken;
      for (const NodeIndex node : graph.topological_order()) {
        const int32_t chip = chips[node];
        std::vector<Action>& todo = todo_[static_cast<size_t>(chip)];
        for (const NodeIndex read : graph.adjacency().predecessors(node)) {
          if (chips[read] != chip && taken.insert({read, chip}).second) {
            todo.push_back({'t', {read, sample}});
          }
        }
        todo.push_back({'c', {node, sample}});
        if (Last(node) > chip) todo.push_back({'s', {node, sample}});
      }
    }
    next_.assign(k, 0);
  }

  std::vector<double> Run() {
    for (;;) {
      while (BeginSomething()) {
      }
      double next = kNever;
      for (const double end : chip_ends_) next = std::min(next, end);
      for (const double end : link_ends_) next = std::min(next, end);
      for (const auto& [end, arrival] : flying_) next = std::min(next, end);
      if (next == kNever) break;
      now_ = next;
      for (size_t c = 0; c < todo_.size(); ++c) {
        if (chip_ends_[c] == now_) FinishChip(c);
        if (link_ends_[c] == now_) FinishLink(c);
      }
      while (!flying_.empty() && flying_.begin()->first == now_) {
        const auto [item, chip] = flying_.begin()->second;
        flying_.erase(flying_.begin());
        arrived_.insert({item, chip});
        if (Last(item.first) > chip) {
          waiting_[static_cast<size_t>(chip)].push_back(item);
        }
      }
    }
    for (size_t c = 0; c < todo_.size(); ++c) {
      HONE_CHECK(next_[c] == todo_[c].size());
    }
    return done_;
  }

 private:
  struct Action {
    char kind;  // take, compute, send
    Item item;
  };

  int32_t Last(NodeIndex node) const {
    int32_t last = chips_[node];
    for (const NodeIndex next : graph_.adjacency().successors(node)) {
      last = std::max(last, chips_[next]);
    }
    return last;
  }
  bool IsReadOn(NodeIndex node, int32_t chip) const {
    const auto readers = graph_.adjacency().successors(node);
    return std::any_of(readers.begin(), readers.end(),
                       [&](NodeIndex r) { return chips_[r] == chip; });
  }

  // Of the sources that no node of the chip before this one has read.
  double CopyTime(NodeIndex node) const {
    double time = 0;
    for (const NodeIndex source : graph_.sources_of(node)) {
      const graphs::PartitionSource& copied = graph_.sources()[source];
      bool is_first = true;
      for (const NodeIndex before : graph_.topological_order()) {
        if (before == node) break;
        is_first = is_first && !(chips_[before] == chips_[node] &&
                                 std::count(copied.readers.begin(),
                                            copied.readers.end(), before) > 0);
      }
      if (is_first && copied.time > 0) time += copied.time + overhead_;
    }
    return time;
  }

  // Of the two buffers of an output at a chip.
  bool HasBuffer(const Item& item, int32_t chip) const {
    int in_use = 0;
    for (int32_t sample = 0; sample < item.second; ++sample) {
      const std::pair<Item, int32_t> at = {{item.first, sample}, chip};
      const bool is_needed =
          (IsReadOn(item.first, chip) && taken_.count(at) == 0) ||
          (Last(item.first) > chip && sent_on_.count(at) == 0);
      if (is_needed) ++in_use;
    }
    return in_use < 2;
  }

  bool BeginSomething() {
    for (size_t c = 0; c < todo_.size(); ++c) {
      const auto chip = static_cast<int32_t>(c);
      if (link_ends_[c] == kNever) {
        for (size_t i = 0; i < waiting_[c].size(); ++i) {
          const Item item = waiting_[c][i];
          if (!HasBuffer(item, chip + 1)) continue;
          waiting_[c].erase(waiting_[c].begin() +
                            static_cast<std::ptrdiff_t>(i));
          on_link_[c] = item;
          link_ends_[c] = now_ + graph_.node(item.first).transfer_time;
          return true;
        }
      }
      if (chip_ends_[c] != kNever || is_sending_.count(chip) != 0 ||
          next_[c] == todo_[c].size()) {
        continue;
      }
      const auto& [kind, item] = todo_[c][next_[c]];
      const graphs::PartitionNode& node = graph_.node(item.first);
      if (kind == 'c') {
        chip_ends_[c] = now_ + node.time + CopyTime(item.first) +
                        overhead_ * static_cast<double>(node.origins.size());
        return true;
      }
      if (kind == 't' && arrived_.count({item, chip}) != 0) {
        chip_ends_[c] = now_ + node.transfer_time;
        return true;
      }
      if (kind == 's') {
        waiting_[c].push_back(item);
        is_sending_.insert(chip);
        return true;
      }
    }
    return false;
  }

  void FinishChip(size_t c) {
    chip_ends_[c] = kNever;
    const auto& [kind, item] = todo_[c][next_[c]];
    if (kind == 't') taken_.insert({item, static_cast<int32_t>(c)});
    Next(c);
  }

  void Next(size_t c) {
    double& done = done_[static_cast<size_t>(todo_[c][next_[c]].item.second)];
    done = std::max(done, now_);
    ++next_[c];
  }

  void FinishLink(size_t c) {
    link_ends_[c] = kNever;
    const auto chip = static_cast<int32_t>(c);
    const Item item = on_link_[c];
    flying_.insert({now_ + latency_, {item, chip + 1}});
    if (chips_[item.first] == chip) {
      is_sending_.erase(chip);
      Next(c);
    } else {
      sent_on_.insert({item, chip});
    }
  }

  const graphs::PartitionGraph& graph_;
  const absl::Span<const int32_t> chips_;
  const double overhead_;
  const double latency_;
  double now_ = 0;
  std::vector<std::vector<Action>> todo_;
  std::vector<size_t> next_;
  std::vector<double> chip_ends_;
  std::vector<double> link_ends_;
  std::vector<std::vector<Item>> waiting_;
  std::vector<Item> on_link_;
  std::set<int32_t> is_sending_;
  std::multimap<double, std::pair<Item, int32_t>> flying_;
  std::set<std::pair<Item, int32_t>> arrived_;
  std::set<std::pair<Item, int32_t>> taken_;
  std::set<std::pair<Item, int32_t>> sent_on_;
  std::vector<double> done_;
};

}  // namespace

std::vector<double> PipelineByDefinition(const graphs::PartitionGraph& graph,
                                         const graphs::Package& package,
                                         absl::Span<const int32_t> chips,
                                         int32_t samples) {
  return Simulation(graph, package, chips, samples).Run();
}

}  // namespace hone::testing

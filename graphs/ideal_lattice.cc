#include "graphs/ideal_lattice.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"

namespace hone::graphs {
namespace {

constexpr size_t kMaxSteps = size_t{1} << 25;
// Ideals between two calls of `stop`.
constexpr size_t kStopInterval = 1024;

// Ideals in the order of their discovery.
struct Ideals {
  std::vector<size_t> begin = {0};  // [ideals + 1], in `steps`
  std::vector<IdealLattice::Step> steps;
  std::vector<uint32_t> cardinality;  // [ideals]
};

// Walks depth first over the ideals. An ideal is known by its steps: the nodes
// outside it whose predecessors are all inside. These are the minimal elements
// of its complement, which they determine.
class Enumeration {
 public:
  Enumeration(const Adjacency& graph, size_t max_ideals,
              const std::function<bool()>& stop)
      : graph_(graph),
        max_ideals_(max_ideals),
        stop_(stop),
        missing_(graph.size()),
        known_(16, ByNodes{this}, ByNodes{this}) {
    for (size_t i = 0; i < graph.size(); ++i) {
      missing_[i] = graph.predecessors(static_cast<NodeIndex>(i)).size();
    }
  }
  Enumeration(const Enumeration&) = delete;
  Enumeration& operator=(const Enumeration&) = delete;

  absl::Status Run() {
    std::vector<NodeIndex> nodes;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (missing_[i] == 0) nodes.push_back(static_cast<NodeIndex>(i));
    }
    Enter(Find(nodes, 0).first);
    while (!walk_.empty()) {
      const Position& top = walk_.back();
      if (top.next == found_.begin[top.ideal + size_t{1}]) {
        walk_.pop_back();
        if (!walk_.empty()) Remove(found_.steps[walk_.back().next++].node);
        continue;
      }
      const size_t step = walk_.back().next;
      const NodeIndex node = found_.steps[step].node;
      NodesAfter(walk_.back().ideal, node, nodes);
      const auto [ideal, is_new] =
          Find(nodes, found_.cardinality[walk_.back().ideal] + 1);
      found_.steps[step].ideal = ideal;
      if (!is_new) {
        Remove(node);
        ++walk_.back().next;
        continue;
      }
      if (found_.cardinality.size() > max_ideals_) {
        return absl::ResourceExhaustedError(
            absl::StrFormat("the graph has more than %d ideals", max_ideals_));
      }
      if (found_.steps.size() > kMaxSteps) {
        return absl::ResourceExhaustedError(absl::StrFormat(
            "the graph has more than %d steps between ideals", kMaxSteps));
      }
      if (found_.cardinality.size() % kStopInterval == 0 && stop_ && stop_()) {
        return absl::CancelledError("the enumeration of ideals was stopped");
      }
      Enter(ideal);
    }
    return absl::OkStatus();
  }

  const Ideals& ideals() const { return found_; }

 private:
  struct Position {
    uint32_t ideal;
    size_t next;  // step
  };
  // Hash and equality of ideals by the nodes of their steps.
  struct ByNodes {
    const Enumeration* owner;
    absl::Span<const IdealLattice::Step> Steps(uint32_t ideal) const {
      return absl::MakeConstSpan(owner->found_.steps)
          .subspan(owner->found_.begin[ideal],
                   owner->found_.begin[ideal + size_t{1}] -
                       owner->found_.begin[ideal]);
    }
    size_t operator()(uint32_t ideal) const {
      size_t hash = 0;
      for (const IdealLattice::Step& step : Steps(ideal)) {
        hash = absl::HashOf(hash, step.node);
      }
      return hash;
    }
    bool operator()(uint32_t a, uint32_t b) const {
      const absl::Span<const IdealLattice::Step> left = Steps(a);
      const absl::Span<const IdealLattice::Step> right = Steps(b);
      return std::equal(
          left.begin(), left.end(), right.begin(), right.end(),
          [](const auto& x, const auto& y) { return x.node == y.node; });
    }
  };

  // Returns the ideal whose steps add `nodes`, and true if it is new.
  std::pair<uint32_t, bool> Find(const std::vector<NodeIndex>& nodes,
                                 uint32_t cardinality) {
    for (const NodeIndex node : nodes) found_.steps.push_back({node, 0});
    found_.begin.push_back(found_.steps.size());
    const auto [place, is_new] =
        known_.insert(static_cast<uint32_t>(found_.cardinality.size()));
    if (is_new) {
      found_.cardinality.push_back(cardinality);
    } else {
      found_.begin.pop_back();
      found_.steps.resize(found_.begin.back());
    }
    return {*place, is_new};
  }

  void Enter(uint32_t ideal) { walk_.push_back({ideal, found_.begin[ideal]}); }

  // Adds `node` to the current ideal; `nodes` gets those that can be added
  // next, sorted.
  void NodesAfter(uint32_t ideal, NodeIndex node,
                  std::vector<NodeIndex>& nodes) {
    nodes.clear();
    for (size_t i = found_.begin[ideal]; i < found_.begin[ideal + size_t{1}];
         ++i) {
      if (found_.steps[i].node != node) nodes.push_back(found_.steps[i].node);
    }
    for (const NodeIndex successor : graph_.successors(node)) {
      if (--missing_[successor] == 0) nodes.push_back(successor);
    }
    std::sort(nodes.begin(), nodes.end());
  }
  void Remove(NodeIndex node) {
    for (const NodeIndex successor : graph_.successors(node)) {
      ++missing_[successor];
    }
  }

  const Adjacency& graph_;
  const size_t max_ideals_;
  const std::function<bool()>& stop_;
  Ideals found_;
  std::vector<size_t> missing_;  // [nodes]: predecessors outside the ideal
  std::vector<Position> walk_;
  absl::flat_hash_set<uint32_t, ByNodes, ByNodes> known_;
};

}  // namespace

absl::StatusOr<IdealLattice> IdealLattice::Create(
    const Adjacency& graph, int64_t max_ideals,
    const std::function<bool()>& stop) {
  Enumeration enumeration(
      graph, static_cast<size_t>(std::clamp<int64_t>(max_ideals, 1, 1 << 30)),
      stop);
  HONE_RETURN_IF_ERROR(enumeration.Run());
  const Ideals& found = enumeration.ideals();
  // Numbers by the number of nodes (counting sort).
  const size_t ideals = found.cardinality.size();
  std::vector<uint32_t> next(graph.size() + 2);
  for (const uint32_t nodes : found.cardinality) ++next[nodes + size_t{1}];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<uint32_t> number(ideals);
  std::vector<uint32_t> discovered(ideals);
  for (uint32_t i = 0; i < ideals; ++i) {
    number[i] = next[found.cardinality[i]]++;
    discovered[number[i]] = i;
  }
  IdealLattice lattice;
  lattice.first_step_.reserve(ideals + 1);
  lattice.steps_.reserve(found.steps.size());
  for (const uint32_t old : discovered) {
    for (size_t i = found.begin[old]; i < found.begin[old + size_t{1}]; ++i) {
      lattice.steps_.push_back(
          {found.steps[i].node, number[found.steps[i].ideal]});
    }
    lattice.first_step_.push_back(lattice.steps_.size());
  }
  lattice.RecordOrigins();
  return lattice;
}

IdealLattice IdealLattice::Chain(absl::Span<const NodeIndex> order) {
  IdealLattice lattice;
  for (const NodeIndex node : order) {
    lattice.steps_.push_back(
        {node, static_cast<uint32_t>(lattice.steps_.size() + 1)});
    lattice.first_step_.push_back(lattice.steps_.size());
  }
  lattice.first_step_.push_back(lattice.steps_.size());
  lattice.RecordOrigins();
  return lattice;
}

void IdealLattice::RecordOrigins() {
  origins_.resize(size());
  for (uint32_t ideal = 0; ideal < size(); ++ideal) {
    for (const Step& step : steps(ideal)) {
      origins_[step.ideal] = {step.node, ideal};
    }
  }
}

std::vector<NodeIndex> IdealLattice::Nodes(uint32_t ideal) const {
  std::vector<NodeIndex> nodes;
  for (; ideal != 0; ideal = origins_[ideal].ideal) {
    nodes.push_back(origins_[ideal].node);
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace hone::graphs

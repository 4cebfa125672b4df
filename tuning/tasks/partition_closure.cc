#include "tuning/tasks/partition_closure.h"

#include <bit>

namespace hone::tuning {

using graphs::NodeIndex;

PartitionClosure::PartitionClosure(const graphs::PartitionGraph& graph)
    : first_(graph.size() + 1), descendants_(graph.size()) {
  const size_t n = graph.size();
  if (n > kMaxNodes) return;
  words_ = (n + 63) / 64;
  const size_t words = words_;
  after_.resize(n * words);
  before_.resize(n * words);
  const auto set = [&](std::vector<uint64_t>& rows, size_t row, size_t bit) {
    rows[row * words + bit / 64] |= uint64_t{1} << bit % 64;
  };
  const auto add = [&](std::vector<uint64_t>& rows, size_t to, size_t from) {
    for (size_t w = 0; w < words; ++w) {
      rows[to * words + w] |= rows[from * words + w];
    }
    set(rows, to, from);
  };
  const absl::Span<const NodeIndex> order = graph.topological_order();
  for (const NodeIndex node : order) {
    for (const NodeIndex before : graph.adjacency().predecessors(node)) {
      add(before_, node, before);
    }
  }
  for (size_t i = n; i-- > 0;) {
    const NodeIndex node = order[i];
    for (const NodeIndex next : graph.adjacency().successors(node)) {
      add(after_, node, next);
    }
    for (size_t w = 0; w < words; ++w) {
      descendants_[node] +=
          static_cast<uint32_t>(std::popcount(after_[node * words + w]));
    }
  }
  const auto reach = [&](size_t source, size_t target) {
    size_t others = n - 2;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t after = after_[target * words + w];
      const uint64_t before = before_[source * words + w];
      const uint64_t between =
          after_[source * words + w] & before_[target * words + w];
      others -= static_cast<size_t>(std::popcount(after | before | between));
    }
    return static_cast<int32_t>(others) + 1;
  };
  for (size_t i = 0; i < n; ++i) {
    const auto node = static_cast<NodeIndex>(i);
    first_out_.push_back(reach_of_.size());
    for (const NodeIndex next : graph.adjacency().successors(node)) {
      reach_of_.push_back(reach(i, next));
    }
    first_in_.push_back(reach_to_.size());
    for (const NodeIndex before : graph.adjacency().predecessors(node)) {
      reach_to_.push_back(reach(before, i));
    }
  }
  first_out_.push_back(reach_of_.size());
  first_in_.push_back(reach_to_.size());
  for (size_t source = 0; source < n; ++source) {
    for (const NodeIndex target :
         graph.adjacency().successors(static_cast<NodeIndex>(source))) {
      for (size_t w = 0; w < words; ++w) {
        uint64_t between =
            after_[source * words + w] & before_[target * words + w];
        for (; between != 0; between &= between - 1) {
          triples_.push_back(
              {static_cast<NodeIndex>(source),
               static_cast<NodeIndex>(
                   w * 64 + static_cast<size_t>(std::countr_zero(between))),
               target});
        }
        if (triples_.size() > kMaxTriples) {
          triples_.clear();
          return;
        }
      }
    }
  }
  const auto for_each = [&](const auto& use) {
    for (size_t t = 0; t < triples_.size(); ++t) {
      for (const NodeIndex node :
           {triples_[t].source, triples_[t].between, triples_[t].target}) {
        use(node, static_cast<uint32_t>(t));
      }
    }
  };
  for_each([&](NodeIndex node, uint32_t) { ++first_[node + size_t{1}]; });
  for (size_t i = 0; i < n; ++i) first_[i + 1] += first_[i];
  member_of_.resize(3 * triples_.size());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for_each([&](NodeIndex node, uint32_t triple) {
    member_of_[next[node]++] = triple;
  });
}

}  // namespace hone::tuning

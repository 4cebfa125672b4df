#ifndef HONE_TUNING_TASKS_PARTITION_CLOSURE_H_
#define HONE_TUNING_TASKS_PARTITION_CLOSURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/mcm/partition_graph.h"

namespace hone::tuning {

// The constraint solver's knowledge of a partition's graph before any decision,
// shared by all solvers of the graph.
//
// Large graphs, and those with more ways beside arcs than kMaxTriples, have
// none of the triples, and very large ones no counts: the rules that use them
// find conflicts early, others find them in the end.
class PartitionClosure {
 public:
  // A node on a way from `source` to `target`, which an arc joins as well.
  struct Triple {
    graphs::NodeIndex source;
    graphs::NodeIndex between;
    graphs::NodeIndex target;
  };

  // Takes time and memory for the square of the nodes, in bits, for at most
  // kMaxNodes nodes.
  explicit PartitionClosure(const graphs::PartitionGraph& graph);

  absl::Span<const Triple> triples() const { return triples_; }
  // The triples that a node is part of, by index.
  absl::Span<const uint32_t> triples_of(graphs::NodeIndex node) const {
    return absl::MakeConstSpan(member_of_)
        .subspan(first_[node], first_[node + size_t{1}] - first_[node]);
  }
  // The number of nodes that a node reaches.
  uint32_t descendants(graphs::NodeIndex node) const {
    return descendants_[node];
  }

  // The most chips by which the target of an arc may lie above its source, for
  // each successor of `node`, and for each predecessor, in their order: the
  // chips between need nodes that the source does not follow, that do not
  // follow the target, and that are not on a way between them. Empty if not
  // known.
  absl::Span<const int32_t> reach_of(graphs::NodeIndex node) const {
    return Row(reach_of_, first_out_, node);
  }
  absl::Span<const int32_t> reach_to(graphs::NodeIndex node) const {
    return Row(reach_to_, first_in_, node);
  }

  // The nodes that a node reaches, and that reach it, as bits, 64 to a word;
  // empty if not known.
  absl::Span<const uint64_t> after(graphs::NodeIndex node) const {
    return Bits(after_, node);
  }
  absl::Span<const uint64_t> before(graphs::NodeIndex node) const {
    return Bits(before_, node);
  }
  // The words of each; 0 if not known.
  size_t words() const { return words_; }

  static constexpr size_t kMaxNodes = 10'000;
  static constexpr size_t kMaxTriples = 500'000;

 private:
  absl::Span<const uint64_t> Bits(const std::vector<uint64_t>& rows,
                                  graphs::NodeIndex node) const {
    return absl::MakeConstSpan(rows).subspan(node * words_, words_);
  }
  static absl::Span<const int32_t> Row(const std::vector<int32_t>& rows,
                                       const std::vector<size_t>& first,
                                       graphs::NodeIndex node) {
    if (rows.empty()) return {};
    return absl::MakeConstSpan(rows).subspan(
        first[node], first[node + size_t{1}] - first[node]);
  }

  size_t words_ = 0;
  std::vector<uint64_t> after_;   // [nodes, words]
  std::vector<uint64_t> before_;  // [nodes, words]
  std::vector<Triple> triples_;
  std::vector<size_t> first_;        // [nodes + 1]
  std::vector<uint32_t> member_of_;  // triples, node by node
  std::vector<uint32_t> descendants_;
  std::vector<size_t> first_out_;  // [nodes + 1]
  std::vector<int32_t> reach_of_;  // arcs, source by source
  std::vector<size_t> first_in_;   // [nodes + 1]
  std::vector<int32_t> reach_to_;  // arcs, target by target
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_CLOSURE_H_

#include "graphs/hlo_import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "base/status_macros.h"
#include "graphs/node_rules.h"
#include "graphs/op_scope.h"
#include "graphs/quantity.h"
#include "graphs/trip_counts.h"
#include "graphs/unrolled_loops.h"
#include "graphs/value_origins.h"
#include "hlo/analysis/canonical.h"
#include "hlo/analysis/cost_analysis.h"

namespace hone::graphs {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;

// Costs are products of what the module states, trip counts and dimensions
// among them.
double Bounded(double amount, double most = kMaxQuantity) {
  return amount <= most ? std::max(amount, 0.0) : most;
}

class Importer {
 public:
  // `module` as its instructions are named and ordered, and the same with the
  // trip counts of loops stated.
  Importer(const hlo::Module& module, hlo::Module counted)
      : entry_(module.entry_computation()),
        counted_(std::move(counted)),
        costs_(counted_),
        order_(hlo::CanonicalOrder(module)),
        origins_(entry_),
        places_(Slots()),
        owners_(Slots(), kNoInstruction),
        parameter_bytes_(Slots()),
        indices_(Slots(), 0),
        readers_(Slots()) {
    for (size_t i = 0; i < order_.size(); ++i) {
      places_[Slot(order_[i])] = static_cast<int32_t>(i);
    }
  }

  absl::StatusOr<OpGraph> Import() {
    for (const InstructionId id : entry_.PostOrder()) FindOwner(id);
    // The graph of a module that only passes values on.
    if (std::all_of(owners_.begin(), owners_.end(), [](InstructionId owner) {
          return owner == kNoInstruction;
        })) {
      owners_[Slot(entry_.root())] = entry_.root();
    }
    for (const InstructionId id : order_) {
      if (owners_[Slot(id)] != kNoInstruction) {
        HONE_RETURN_IF_ERROR(CollectReads(id));
      }
    }
    MakeNodes();
    HONE_RETURN_IF_ERROR(MarkOutputs());
    AddParameters();
    MergeEdges();
    BoundMemory();
    return OpGraph::Create(std::move(nodes_), std::move(edges_));
  }

  // The node of each instruction, by id; -1 for one without.
  std::vector<int32_t> Nodes() const {
    std::vector<int32_t> nodes(Slots(), -1);
    for (const InstructionId id : order_) {
      const InstructionId owner = owners_[Slot(id)];
      if (owner != kNoInstruction) {
        nodes[Slot(id)] = static_cast<int32_t>(indices_[Slot(owner)]);
      } else if (IsShared(readers_[Slot(id)])) {
        nodes[Slot(id)] = static_cast<int32_t>(indices_[Slot(id)]);
      }
    }
    return nodes;
  }

 private:
  // What is larger fits nowhere but within a fusion.
  void BoundMemory() {
    for (OpNode& node : nodes_) {
      node.output_bytes = Bounded(node.output_bytes, kMaxMemoryBytes);
      node.parameter_bytes = Bounded(node.parameter_bytes, kMaxMemoryBytes);
    }
    for (OpEdge& edge : edges_) {
      edge.bytes = Bounded(edge.bytes, kMaxMemoryBytes);
    }
  }

  // A read of a leaf of a parameter by a node.
  struct ParameterRead {
    InstructionId reader = kNoInstruction;
    Leaf leaf;
  };
  // An edge between the owners of nodes, by instruction.
  struct Edge {
    InstructionId source = kNoInstruction;
    InstructionId target = kNoInstruction;
    double bytes = 0;
  };
  static constexpr InstructionId kSeveral = -2;

  size_t Slots() const { return static_cast<size_t>(entry_.slot_count()); }
  static size_t Slot(InstructionId id) { return static_cast<size_t>(id); }

  // Finds which node an instruction belongs to, if any. Its operands' are
  // known.
  void FindOwner(InstructionId id) {
    const Instruction& instruction = entry_[id];
    const Opcode opcode = instruction.opcode();
    if (!DoesWork(opcode)) return;
    owners_[Slot(id)] = id;
    if (instruction.operand_count() == 0) return;
    const InstructionId first = instruction.operand(0);
    if (Completes(opcode, entry_[first].opcode())) {
      owners_[Slot(id)] = owners_[Slot(first)];
    }
  }

  // Adds what an instruction reads to the edges and parameters of its node.
  absl::Status CollectReads(InstructionId id) {
    const InstructionId target = owners_[Slot(id)];
    reads_.clear();
    for (const InstructionId operand : entry_[id].operands()) {
      HONE_RETURN_IF_ERROR(origins_.AddLeaves(operand, reads_));
    }
    if (target == id) {
      for (const InstructionId before : entry_.control_predecessors(id)) {
        if (owners_[Slot(before)] == kNoInstruction) continue;
        reads_.push_back({before, Leaf::kNone, 0});
      }
    }
    const auto key = [this](const Leaf& leaf) {
      return std::pair(places_[Slot(leaf.origin)], leaf.index);
    };
    std::sort(reads_.begin(), reads_.end(),
              [&](const Leaf& a, const Leaf& b) { return key(a) < key(b); });
    reads_.erase(std::unique(reads_.begin(), reads_.end(),
                             [&](const Leaf& a, const Leaf& b) {
                               return key(a) == key(b);
                             }),
                 reads_.end());
    for (const Leaf& leaf : reads_) Add(target, leaf);
    return absl::OkStatus();
  }

  void Add(InstructionId target, const Leaf& leaf) {
    if (owners_[Slot(leaf.origin)] != kNoInstruction) {
      edges_by_id_.push_back({owners_[Slot(leaf.origin)], target, leaf.bytes});
      return;
    }
    if (leaf.index == Leaf::kNone) return;
    if (entry_[leaf.origin].opcode() == Opcode::kConstant) {
      parameter_bytes_[Slot(target)] += leaf.bytes;
      return;
    }
    parameter_reads_.push_back({target, leaf});
    std::vector<InstructionId>& readers = readers_[Slot(leaf.origin)];
    if (readers.empty()) {
      readers.assign(static_cast<size_t>(origins_.LeafCount(leaf.origin)),
                     kNoInstruction);
    }
    InstructionId& reader = readers[static_cast<size_t>(leaf.index)];
    reader = reader == kNoInstruction || reader == target ? target : kSeveral;
  }

  static bool IsShared(const std::vector<InstructionId>& readers) {
    return std::find(readers.begin(), readers.end(), kSeveral) != readers.end();
  }

  // Makes the nodes, with the work of their instructions.
  void MakeNodes() {
    for (const InstructionId id : order_) {
      if (owners_[Slot(id)] != id && !IsShared(readers_[Slot(id)])) continue;
      const Instruction& instruction = entry_[id];
      indices_[Slot(id)] = nodes_.size();
      OpNode& node = nodes_.emplace_back();
      node.id = static_cast<int64_t>(nodes_.size()) - 1;
      node.opcode = instruction.unknown_opcode() != nullptr
                        ? *instruction.unknown_opcode()
                        : std::string(hlo::OpcodeName(instruction.opcode()));
      node.name = instruction.name().empty() ? node.opcode : instruction.name();
      if (instruction.metadata() != nullptr) {
        node.scope = ScopeOf(*instruction.metadata());
      }
    }
    for (const InstructionId id : order_) {
      const InstructionId owner = owners_[Slot(id)];
      if (owner == kNoInstruction) continue;
      OpNode& node = nodes_[indices_[Slot(owner)]];
      // Else it is the root of a module without work.
      if (!OnlyPassesValues(entry_[id].opcode())) {
        const hlo::Costs costs =
            costs_.InstructionCosts(counted_.entry_computation(), id);
        node.flops = Bounded(node.flops + costs.flops + costs.transcendentals);
        node.bytes = Bounded(node.bytes + costs.bytes());
      }
      if (entry_[id].opcode() != Opcode::kAsyncUpdate) {
        node.output_bytes = static_cast<double>(entry_[id].shape().byte_size());
      }
      if (owner != id) continue;
      node.parameter_bytes = IsStored(entry_[id].opcode())
                                 ? node.output_bytes
                                 : parameter_bytes_[Slot(id)];
    }
  }

  // Marks the nodes whose results the root passes on.
  absl::Status MarkOutputs() {
    reads_.clear();
    HONE_RETURN_IF_ERROR(origins_.AddLeaves(entry_.root(), reads_));
    for (const Leaf& leaf : reads_) {
      const InstructionId owner = owners_[Slot(leaf.origin)];
      if (owner != kNoInstruction) {
        nodes_[indices_[Slot(owner)]].is_output = true;
      }
    }
    return absl::OkStatus();
  }

  // Gives the elements of parameters to their one reader, or to nodes.
  void AddParameters() {
    for (const auto& [reader, leaf] : parameter_reads_) {
      const InstructionId only =
          readers_[Slot(leaf.origin)][static_cast<size_t>(leaf.index)];
      if (only == kSeveral) {
        edges_by_id_.push_back({leaf.origin, reader, leaf.bytes});
      } else {
        nodes_[indices_[Slot(reader)]].parameter_bytes += leaf.bytes;
      }
    }
    for (const InstructionId id : entry_.parameters()) {
      const std::vector<InstructionId>& readers = readers_[Slot(id)];
      if (!IsShared(readers)) continue;
      OpNode& node = nodes_[indices_[Slot(id)]];
      for (size_t leaf = 0; leaf < readers.size(); ++leaf) {
        if (readers[leaf] != kSeveral) continue;
        node.parameter_bytes +=
            origins_.LeafBytes(id, static_cast<int64_t>(leaf));
      }
      node.output_bytes = node.parameter_bytes;
    }
  }

  // Makes one edge of all between two nodes.
  void MergeEdges() {
    const auto ends = [this](const Edge& edge) {
      return std::pair(indices_[Slot(edge.target)],
                       indices_[Slot(edge.source)]);
    };
    std::stable_sort(
        edges_by_id_.begin(), edges_by_id_.end(),
        [&](const Edge& a, const Edge& b) { return ends(a) < ends(b); });
    for (const Edge& edge : edges_by_id_) {
      const auto [target, source] = ends(edge);
      if (target == source) continue;
      const auto from = static_cast<int64_t>(source);
      const auto to = static_cast<int64_t>(target);
      if (!edges_.empty() && edges_.back().from_id == from &&
          edges_.back().to_id == to) {
        edges_.back().bytes += edge.bytes;
      } else {
        edges_.push_back({from, to, edge.bytes});
      }
    }
  }

  const hlo::Computation& entry_;
  const hlo::Module counted_;
  const hlo::CostAnalysis costs_;           // of counted_
  const std::vector<InstructionId> order_;  // canonical
  ValueOrigins origins_;
  // Of each instruction, by its id.
  std::vector<int32_t> places_;          // in order_
  std::vector<InstructionId> owners_;    // whose node it is part of
  std::vector<double> parameter_bytes_;  // of constants that it reads
  std::vector<size_t> indices_;          // of its node
  // Of a parameter, who reads each leaf.
  std::vector<std::vector<InstructionId>> readers_;

  std::vector<Leaf> reads_;  // of the instruction at hand
  std::vector<ParameterRead> parameter_reads_;
  std::vector<Edge> edges_by_id_;
  std::vector<OpNode> nodes_;
  std::vector<OpEdge> edges_;
};

}  // namespace

absl::StatusOr<OpGraph> ImportHlo(const hlo::Module& module,
                                  const ImportOptions& options) {
  hlo::Module counted = WithTripCounts(module);
  if (options.loops == Loops::kOne) {
    return Importer(module, std::move(counted)).Import();
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module unrolled,
                        UnrollLoops(counted, options.max_nodes));
  return Importer(unrolled, unrolled).Import();
}

absl::StatusOr<ImportedHlo> ImportHloWithNodes(const hlo::Module& module) {
  Importer importer(module, WithTripCounts(module));
  HONE_ASSIGN_OR_RETURN(OpGraph graph, importer.Import());
  return ImportedHlo{std::move(graph), importer.Nodes()};
}

}  // namespace hone::graphs

#include "graphs/hlo_import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"
#include "graphs/quantity.h"
#include "hlo/analysis/canonical.h"
#include "hlo/analysis/cost_analysis.h"

namespace hone::graphs {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;

// The elements that all nodes together may read: few tuples of thousands of
// elements that thousands of instructions read would fill the memory.
constexpr int64_t kMaxReads = int64_t{1} << 24;

// Costs are products of what the module states, trip counts among them.
double Bounded(double amount) {
  return amount <= kMaxQuantity ? std::max(amount, 0.0) : kMaxQuantity;
}

// Returns true if `second` ends, or continues, what `first` starts.
bool Completes(Opcode second, Opcode first) {
  switch (second) {
    case Opcode::kAllGatherDone:
      return first == Opcode::kAllGatherStart;
    case Opcode::kAllReduceDone:
      return first == Opcode::kAllReduceStart;
    case Opcode::kAsyncDone:
    case Opcode::kAsyncUpdate:
      return first == Opcode::kAsyncStart || first == Opcode::kAsyncUpdate;
    case Opcode::kCollectivePermuteDone:
      return first == Opcode::kCollectivePermuteStart;
    case Opcode::kCopyDone:
      return first == Opcode::kCopyStart;
    case Opcode::kRecvDone:
      return first == Opcode::kRecv;
    case Opcode::kSendDone:
      return first == Opcode::kSend;
    default:
      return false;
  }
}

// Returns true if the program has the value before it runs.
bool IsStored(Opcode opcode) {
  return opcode == Opcode::kConstant || opcode == Opcode::kParameter;
}

// The sizes of the leaves of shapes: their arrays, tokens and the like, in
// order. A shape that is no tuple is its own leaf.
class Leaves {
 public:
  int64_t Count(const hlo::Shape& shape) {
    return shape.IsTuple() ? static_cast<int64_t>(Of(shape).bytes.size()) : 1;
  }
  double Bytes(const hlo::Shape& shape, int64_t leaf) {
    return shape.IsTuple() ? Of(shape).bytes[static_cast<size_t>(leaf)]
                           : static_cast<double>(shape.byte_size());
  }
  // The first leaf of an element of a tuple.
  int64_t First(const hlo::Shape& tuple, int32_t element) {
    return Of(tuple).first[static_cast<size_t>(element)];
  }

 private:
  struct Table {
    std::vector<double> bytes;   // [leaves]
    std::vector<int64_t> first;  // [elements]
  };

  const Table& Of(const hlo::Shape& tuple) {
    const auto [it, is_new] = tables_.try_emplace(&tuple);
    Table& table = it->second;
    if (!is_new) return table;
    for (const hlo::ShapePtr& element : tuple.tuple_elements()) {
      table.first.push_back(static_cast<int64_t>(table.bytes.size()));
      Append(*element, table.bytes);
    }
    return table;
  }
  // Tuples are nested to hlo::kMaxTupleLevels at most.
  static void Append(const hlo::Shape& shape, std::vector<double>& bytes) {
    if (!shape.IsTuple()) {
      bytes.push_back(static_cast<double>(shape.byte_size()));
      return;
    }
    for (const hlo::ShapePtr& element : shape.tuple_elements()) {
      Append(*element, bytes);
    }
  }

  // Of the shapes of instructions, which outlive this.
  absl::flat_hash_map<const hlo::Shape*, Table> tables_;
};

// Where the leaves of an instruction's result come from: some successive ones
// of the result of `origin`, or the operands of `tuple`.
struct Value {
  InstructionId origin = kNoInstruction;
  int64_t first = 0;
  int64_t count = 0;
  InstructionId tuple = kNoInstruction;
};

class Importer {
 public:
  explicit Importer(const hlo::Module& module)
      : entry_(module.entry_computation()),
        costs_(module),
        order_(hlo::CanonicalOrder(module)),
        places_(Slots()),
        values_(Slots()),
        owners_(Slots(), kNoInstruction),
        parameter_bytes_(Slots()),
        indices_(Slots(), 0),
        readers_(Slots()) {
    for (size_t i = 0; i < order_.size(); ++i) {
      places_[Slot(order_[i])] = static_cast<int32_t>(i);
    }
  }

  absl::StatusOr<OpGraph> Import() {
    for (const InstructionId id : entry_.PostOrder()) Trace(id);
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
    AddParameters();
    MergeEdges();
    return OpGraph::Create(std::move(nodes_), std::move(edges_));
  }

 private:
  // A leaf that an instruction reads; -1: it waits only. Compared by `key`.
  struct Read {
    int32_t place = 0;  // of the origin
    int64_t leaf = 0;
    InstructionId origin = kNoInstruction;
    double bytes = 0;

    auto key() const { return std::pair(place, leaf); }
  };
  // A read of a leaf of a parameter by a node.
  struct ParameterRead {
    InstructionId reader = kNoInstruction;
    Read read;
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

  // Finds where the result of an instruction comes from, and which node it
  // belongs to. Its operands have been traced.
  void Trace(InstructionId id) {
    const Instruction& instruction = entry_[id];
    Value& value = values_[Slot(id)];
    value = {.origin = id, .count = leaves_.Count(instruction.shape())};
    switch (instruction.opcode()) {
      case Opcode::kConstant:
      case Opcode::kParameter:
        return;
      case Opcode::kTuple:
        value.origin = kNoInstruction;
        value.tuple = id;
        return;
      case Opcode::kGetTupleElement: {
        const Value& of = values_[Slot(instruction.operand(0))];
        if (of.tuple != kNoInstruction) {
          value = values_[Slot(entry_[of.tuple].operand(
              static_cast<size_t>(instruction.index())))];
          return;
        }
        value.origin = of.origin;
        value.first =
            of.first + leaves_.First(entry_[instruction.operand(0)].shape(),
                                     instruction.index());
        return;
      }
      case Opcode::kBitcast:
      case Opcode::kDomain:
      case Opcode::kOptBarrier:
        value = values_[Slot(instruction.operand(0))];
        return;
      default:
        break;
    }
    owners_[Slot(id)] = id;
    if (instruction.operand_count() == 0) return;
    const InstructionId first = instruction.operand(0);
    if (Completes(instruction.opcode(), entry_[first].opcode())) {
      owners_[Slot(id)] = owners_[Slot(first)];
    }
  }

  // Adds the leaves of a value to reads_.
  absl::Status AddReads(const Value& value) {
    std::vector<Value>& stack = stack_;
    stack.assign(1, value);
    while (!stack.empty()) {
      const Value top = stack.back();
      stack.pop_back();
      const bool is_tuple = top.tuple != kNoInstruction;
      read_count_ += is_tuple ? 1 : std::max<int64_t>(top.count, 1);
      if (read_count_ > kMaxReads) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "instructions of computation '%s' read more than %d elements of "
            "tuples in all, expected fewer",
            entry_.name(), kMaxReads));
      }
      if (is_tuple) {
        for (const InstructionId operand : entry_[top.tuple].operands()) {
          stack.push_back(values_[Slot(operand)]);
        }
        continue;
      }
      if (top.count == 0) AddWait(top.origin);
      const hlo::Shape& shape = entry_[top.origin].shape();
      for (int64_t leaf = top.first; leaf < top.first + top.count; ++leaf) {
        reads_.push_back({places_[Slot(top.origin)], leaf, top.origin,
                          leaves_.Bytes(shape, leaf)});
      }
    }
    return absl::OkStatus();
  }

  void AddWait(InstructionId origin) {
    reads_.push_back({places_[Slot(origin)], -1, origin, 0});
  }

  // Adds what an instruction reads to the edges and parameters of its node.
  absl::Status CollectReads(InstructionId id) {
    const InstructionId target = owners_[Slot(id)];
    reads_.clear();
    for (const InstructionId operand : entry_[id].operands()) {
      HONE_RETURN_IF_ERROR(AddReads(values_[Slot(operand)]));
    }
    if (target == id) {
      for (const InstructionId before : entry_.control_predecessors(id)) {
        if (owners_[Slot(before)] != kNoInstruction) AddWait(before);
      }
    }
    std::sort(reads_.begin(), reads_.end(),
              [](const Read& a, const Read& b) { return a.key() < b.key(); });
    reads_.erase(std::unique(reads_.begin(), reads_.end(),
                             [](const Read& a, const Read& b) {
                               return a.key() == b.key();
                             }),
                 reads_.end());
    for (const Read& read : reads_) Add(target, read);
    return absl::OkStatus();
  }

  void Add(InstructionId target, const Read& read) {
    if (owners_[Slot(read.origin)] != kNoInstruction) {
      edges_by_id_.push_back({owners_[Slot(read.origin)], target, read.bytes});
      return;
    }
    if (read.leaf < 0) return;
    if (entry_[read.origin].opcode() == Opcode::kConstant) {
      parameter_bytes_[Slot(target)] += read.bytes;
      return;
    }
    parameter_reads_.push_back({target, read});
    std::vector<InstructionId>& readers = readers_[Slot(read.origin)];
    if (readers.empty()) {
      readers.assign(static_cast<size_t>(values_[Slot(read.origin)].count),
                     kNoInstruction);
    }
    InstructionId& reader = readers[static_cast<size_t>(read.leaf)];
    reader = reader == kNoInstruction || reader == target ? target : kSeveral;
  }

  bool IsShared(const std::vector<InstructionId>& readers) const {
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
    }
    for (const InstructionId id : order_) {
      const InstructionId owner = owners_[Slot(id)];
      if (owner == kNoInstruction) continue;
      OpNode& node = nodes_[indices_[Slot(owner)]];
      const hlo::Costs costs = costs_.InstructionCosts(entry_, id);
      // Of the root that stands for a module without work, no costs.
      if (values_[Slot(id)].origin == id) {
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

  // Gives the elements of parameters to their one reader, or to nodes.
  void AddParameters() {
    for (const auto& [reader, read] : parameter_reads_) {
      const InstructionId only =
          readers_[Slot(read.origin)][static_cast<size_t>(read.leaf)];
      if (only == kSeveral) {
        edges_by_id_.push_back({read.origin, reader, read.bytes});
      } else {
        nodes_[indices_[Slot(reader)]].parameter_bytes += read.bytes;
      }
    }
    for (const InstructionId id : entry_.parameters()) {
      const std::vector<InstructionId>& readers = readers_[Slot(id)];
      if (!IsShared(readers)) continue;
      OpNode& node = nodes_[indices_[Slot(id)]];
      for (size_t leaf = 0; leaf < readers.size(); ++leaf) {
        if (readers[leaf] != kSeveral) continue;
        node.parameter_bytes +=
            leaves_.Bytes(entry_[id].shape(), static_cast<int64_t>(leaf));
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
  const hlo::CostAnalysis costs_;
  const std::vector<InstructionId> order_;  // canonical
  Leaves leaves_;
  // Of each instruction, by its id.
  std::vector<int32_t> places_;  // in order_
  std::vector<Value> values_;
  std::vector<InstructionId> owners_;    // whose node it is part of
  std::vector<double> parameter_bytes_;  // of constants that it reads
  std::vector<size_t> indices_;          // of its node
  // Of a parameter, who reads each leaf.
  std::vector<std::vector<InstructionId>> readers_;

  std::vector<Value> stack_;
  std::vector<Read> reads_;  // of the instruction at hand
  int64_t read_count_ = 0;
  std::vector<ParameterRead> parameter_reads_;
  std::vector<Edge> edges_by_id_;
  std::vector<OpNode> nodes_;
  std::vector<OpEdge> edges_;
};

}  // namespace

absl::StatusOr<OpGraph> ImportHlo(const hlo::Module& module) {
  return Importer(module).Import();
}

}  // namespace hone::graphs

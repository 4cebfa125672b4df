#include "costmodels/loop_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "costmodels/log_scale.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/rewrite.h"

namespace hone::costmodels {
namespace {

enum NodeKind : int32_t {
  kKernelNode,
  kLoopNode,
  kStatementNode,
  kLoadNode,
  kStoreNode,
  // One for each loops::Memory, in its order.
  kFirstBufferNode,
};
constexpr const char* kNodeKinds[] = {
    "kernel", "loop",  "statement", "load", "store", "argument",
    "result", "inout", "constant",  "heap", "stack", "register"};

enum NodeFeature : size_t {
  kDepth,       // loops around it
  kPosition,    // in its body
  kIterations,  // of the loops around it, and of a loop itself
  kExtent,
  kBound,
  kUnrolled,
  kVector,
  kParallel,
  kPrefetch,
  kReduction,
  kPredicated,
  kNonTemporal,
  kOperations,
  kExpensiveOperations,
  kRanges,           // conditions on indices
  kInnermostStride,  // elements from one iteration to the next
  kInnermostUnit,
  kInnermostFixed,
  kDataDependent,  // an index depends on data
  kElementSize,
  kBytes,
  kRank,
  kPadded,
  kNodeFeatureCount,
};
constexpr const char* kNodeFeatures[] = {
    "depth",          "position",
    "iterations",     "extent",
    "bound",          "unrolled",
    "vector",         "parallel",
    "prefetch",       "reduction",
    "predicated",     "non_temporal",
    "operations",     "expensive_operations",
    "ranges",         "innermost_stride",
    "innermost_unit", "innermost_fixed",
    "data_dependent", "element_size",
    "bytes",          "rank",
    "padded"};
static_assert(std::size(kNodeFeatures) == kNodeFeatureCount);

enum EdgeFeature : size_t {
  kContains,
  kNext,
  kDeclares,
  kReads,
  kWrites,
  kIterates,
  kStride,
  kUnitStride,
  kEdgeFeatureCount,
};
constexpr const char* kEdgeFeatures[] = {"contains", "next",       "declares",
                                         "reads",    "writes",     "iterates",
                                         "stride",   "unit_stride"};
static_assert(std::size(kEdgeFeatures) == kEdgeFeatureCount);

enum GlobalFeature : size_t {
  kLoops,
  kStatements,
  kAccesses,
  kLocalBytes,
  kTotalOperations,
  kParallelLoops,
  kVectorLoops,
  kThreads,
  kVectorBytes,
  kVectorRegisters,
  kL1Bytes,
  kL2Bytes,
  kL3Bytes,
  kGlobalFeatureCount,
};
constexpr const char* kGlobalFeatures[] = {
    "loops",        "statements",       "accesses",     "local_bytes",
    "operations",   "parallel_loops",   "vector_loops", "threads",
    "vector_bytes", "vector_registers", "l1_bytes",     "l2_bytes",
    "l3_bytes"};
static_assert(std::size(kGlobalFeatures) == kGlobalFeatureCount);

float Flag(bool set) { return set ? 1.0F : 0.0F; }
float Share(size_t count, float whole) {
  return std::min(static_cast<float>(count) / whole, 1.0F);
}

// Operations that take many times as long as an addition.
bool IsExpensive(hlo::Opcode opcode) {
  using hlo::Opcode;
  constexpr Opcode kExpensive[] = {Opcode::kDivide,
                                   Opcode::kSqrt,
                                   Opcode::kRsqrt,
                                   Opcode::kCbrt,
                                   Opcode::kPower,
                                   Opcode::kLog,
                                   Opcode::kTanh,
                                   Opcode::kLogistic,
                                   Opcode::kErf,
                                   Opcode::kSine,
                                   Opcode::kCosine,
                                   Opcode::kExponential,
                                   Opcode::kExponentialMinusOne,
                                   Opcode::kLogPlusOne,
                                   Opcode::kTan,
                                   Opcode::kAtan2,
                                   Opcode::kRemainder};
  return std::find(std::begin(kExpensive), std::end(kExpensive), opcode) !=
         std::end(kExpensive);
}

// The operations of an expression, those in the offsets of its loads included.
struct Operations {
  int64_t all = 0;
  int64_t expensive = 0;
  int64_t ranges = 0;
};
void Count(const loops::Expression& e, Operations& counts) {
  using Kind = loops::Expression::Kind;
  if (e.kind() == Kind::kApply) {
    ++counts.all;
    if (IsExpensive(e.opcode())) ++counts.expensive;
  }
  if (e.kind() == Kind::kWhere) {
    counts.ranges += static_cast<int64_t>(e.ranges().size());
  }
  if (e.kind() == Kind::kLoad) {
    for (const loops::Index& index : e.access().indices) {
      if (index.offset != nullptr) Count(*index.offset, counts);
    }
  }
  for (const loops::ExpressionPtr& operand : e.operands()) {
    Count(*operand, counts);
  }
}

class Observer {
 public:
  explicit Observer(const loops::Program& program) : program_(program) {}

  ObservedKernel Observe(const loops::Machine& machine) {
    const int32_t root = AddNode(kKernelNode);
    observed_.places[{}] = root;
    Declare(root, program_.locals());
    AddBody(root, program_.body());
    space::Observation& observation = observed_.observation;
    observation.global_features.resize(kGlobalFeatureCount);
    const auto set = [&](GlobalFeature feature, double value, float doublings) {
      observation.global_features[feature] = LogScale(value, doublings);
    };
    set(kLoops, loops_, 12);
    set(kStatements, statements_, 12);
    set(kAccesses, accesses_, 12);
    set(kLocalBytes, local_bytes_, 32);
    set(kTotalOperations, operations_, 48);
    set(kParallelLoops, parallel_, 8);
    set(kVectorLoops, vectors_, 8);
    set(kThreads, machine.threads, 10);
    set(kVectorBytes, static_cast<double>(machine.vector_bytes), 8);
    set(kVectorRegisters, static_cast<double>(machine.vector_registers), 8);
    set(kL1Bytes, static_cast<double>(machine.l1_bytes), 32);
    set(kL2Bytes, static_cast<double>(machine.l2_bytes), 32);
    set(kL3Bytes, static_cast<double>(machine.l3_bytes), 32);
    return std::move(observed_);
  }

 private:
  int32_t AddNode(int32_t kind) {
    space::Observation& observation = observed_.observation;
    observation.node_kinds.push_back(kind);
    observation.node_features.resize(observation.node_kinds.size() *
                                     kNodeFeatureCount);
    return static_cast<int32_t>(observation.node_kinds.size()) - 1;
  }

  void Set(int32_t node, NodeFeature feature, float value) {
    observed_.observation
        .node_features[static_cast<size_t>(node) * kNodeFeatureCount +
                       feature] = value;
  }

  void AddEdge(int32_t source, int32_t target, EdgeFeature kind,
               int64_t stride = 0) {
    space::Observation& observation = observed_.observation;
    observation.edge_sources.push_back(source);
    observation.edge_targets.push_back(target);
    std::array<float, kEdgeFeatureCount> features = {};
    features[kind] = 1;
    features[kStride] = LogScale(static_cast<double>(stride), 24);
    features[kUnitStride] = Flag(stride == 1);
    observation.edge_features.insert(observation.edge_features.end(),
                                     features.begin(), features.end());
  }

  int32_t BufferNode(loops::BufferId id) {
    const auto [it, added] = observed_.buffers.try_emplace(id, 0);
    if (!added) return it->second;
    const loops::Buffer& buffer = program_.buffer(id);
    const int32_t node =
        AddNode(kFirstBufferNode + static_cast<int32_t>(buffer.memory));
    it->second = node;
    const auto bytes = static_cast<double>(buffer.allocated_bytes());
    Set(node, kElementSize,
        LogScale(static_cast<double>(hlo::ByteWidth(buffer.type)), 5));
    Set(node, kBytes, LogScale(bytes, 36));
    Set(node, kRank, Share(buffer.dimensions.size(), 8));
    Set(node, kPadded, Flag(!buffer.IsDense()));
    if (buffer.IsLocal()) local_bytes_ += bytes;
    return node;
  }

  void Declare(int32_t node, const std::vector<loops::BufferId>& locals) {
    for (loops::BufferId id : locals) {
      AddEdge(node, BufferNode(id), kDeclares);
    }
  }

  // Sets what nodes at any place of the tree have.
  void SetPlace(int32_t node) {
    Set(node, kDepth, Share(above_.size(), 12));
    Set(node, kIterations, LogScale(iterations_, 40));
  }

  void AddBody(int32_t parent, const std::vector<loops::Node>& body) {
    int32_t last = -1;
    for (size_t i = 0; i < body.size(); ++i) {
      path_.push_back(static_cast<int32_t>(i));
      const int32_t node = body[i].loop() != nullptr
                               ? AddLoop(*body[i].loop())
                               : AddStatement(*body[i].statement());
      Set(node, kPosition, LogScale(static_cast<double>(i), 6));
      AddEdge(parent, node, kContains);
      if (last >= 0) AddEdge(last, node, kNext);
      last = node;
      path_.pop_back();
    }
  }

  int32_t AddLoop(const loops::Loop& loop) {
    const int32_t node = AddNode(kLoopNode);
    observed_.places[path_] = node;
    const double outside = iterations_;
    iterations_ *= static_cast<double>(loop.extent);
    SetPlace(node);
    Set(node, kExtent, LogScale(static_cast<double>(loop.extent), 24));
    Set(node, kBound, Flag(loop.bound.has_value()));
    Set(node, kUnrolled, Flag(loop.mode == loops::LoopMode::kUnrolled));
    Set(node, kVector, Flag(loop.mode == loops::LoopMode::kVector));
    Set(node, kParallel, Flag(loop.mode == loops::LoopMode::kParallel));
    Set(node, kPrefetch, LogScale(loop.prefetch, 13));
    ++loops_;
    if (loop.mode == loops::LoopMode::kParallel) ++parallel_;
    if (loop.mode == loops::LoopMode::kVector) ++vectors_;
    Declare(node, loop.locals);
    above_.push_back({&loop, node});
    AddBody(node, loop.body);
    above_.pop_back();
    iterations_ = outside;
    return node;
  }

  int32_t AddStatement(const loops::Statement& statement) {
    const int32_t node = AddNode(kStatementNode);
    observed_.places[path_] = node;
    SetPlace(node);
    Operations counts;
    Count(*statement.value, counts);
    if (statement.predicate != nullptr) Count(*statement.predicate, counts);
    if (statement.combine.has_value()) ++counts.all;
    Set(node, kReduction, Flag(statement.combine.has_value()));
    Set(node, kPredicated, Flag(statement.predicate != nullptr));
    Set(node, kNonTemporal, Flag(statement.non_temporal));
    Set(node, kOperations, LogScale(static_cast<double>(counts.all), 8));
    Set(node, kExpensiveOperations,
        LogScale(static_cast<double>(counts.expensive), 6));
    Set(node, kRanges, LogScale(static_cast<double>(counts.ranges), 5));
    ++statements_;
    operations_ += iterations_ * static_cast<double>(counts.all);
    loops::VisitAccesses(statement, [&](const loops::Access& access,
                                        bool is_target) {
      const int32_t place = AddAccess(access, is_target);
      const int32_t buffer = BufferNode(access.buffer);
      AddEdge(is_target ? node : buffer, place, is_target ? kWrites : kReads);
      AddEdge(place, is_target ? buffer : node, is_target ? kWrites : kReads);
    });
    return node;
  }

  int32_t AddAccess(const loops::Access& access, bool is_target) {
    const int32_t node = AddNode(is_target ? kStoreNode : kLoadNode);
    SetPlace(node);
    ++accesses_;
    const loops::Buffer& buffer = program_.buffer(access.buffer);
    Set(node, kElementSize,
        LogScale(static_cast<double>(hlo::ByteWidth(buffer.type)), 5));
    Set(node, kBytes,
        LogScale(static_cast<double>(buffer.allocated_bytes()), 36));
    Set(node, kDataDependent,
        Flag(std::any_of(access.indices.begin(), access.indices.end(),
                         [](const loops::Index& index) {
                           return index.offset != nullptr;
                         })));
    int64_t stride = 0;
    for (const auto& [loop, loop_node] : above_) {
      stride = StrideOf(access, buffer, loop->var);
      if (stride != 0) AddEdge(loop_node, node, kIterates, stride);
    }
    // The last of them is that of the innermost loop.
    Set(node, kInnermostStride, LogScale(static_cast<double>(stride), 24));
    Set(node, kInnermostUnit, Flag(stride == 1));
    Set(node, kInnermostFixed, Flag(stride == 0));
    return node;
  }

  // Elements from the access of one iteration of a loop to that of the next.
  static int64_t StrideOf(const loops::Access& access,
                          const loops::Buffer& buffer, loops::VarId var) {
    const bool is_flat = access.indices.size() != buffer.strides.size();
    int64_t stride = 0;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      stride += access.indices[d].affine.coefficient(var) *
                (is_flat ? 1 : buffer.strides[d]);
    }
    return stride;
  }

  struct Enclosing {
    const loops::Loop* loop;
    int32_t node;
  };

  const loops::Program& program_;
  ObservedKernel observed_;
  loops::Path path_;
  // The loops around the current place, outermost first, and the product of
  // their extents.
  std::vector<Enclosing> above_;
  double iterations_ = 1;
  double loops_ = 0;
  double statements_ = 0;
  double accesses_ = 0;
  double local_bytes_ = 0;
  double operations_ = 0;
  double parallel_ = 0;
  double vectors_ = 0;
};

}  // namespace

space::ObservationSpec KernelObservationSpec() {
  return {.node_kinds = static_cast<int32_t>(std::size(kNodeKinds)),
          .node_features = kNodeFeatureCount,
          .edge_features = kEdgeFeatureCount,
          .global_features = kGlobalFeatureCount,
          .node_kind_names = {std::begin(kNodeKinds), std::end(kNodeKinds)},
          .node_feature_names = {std::begin(kNodeFeatures),
                                 std::end(kNodeFeatures)},
          .edge_feature_names = {std::begin(kEdgeFeatures),
                                 std::end(kEdgeFeatures)},
          .global_feature_names = {std::begin(kGlobalFeatures),
                                   std::end(kGlobalFeatures)}};
}

ObservedKernel ObserveKernel(const loops::Program& program,
                             const loops::Machine& machine) {
  return Observer(program).Observe(machine);
}

}  // namespace hone::costmodels

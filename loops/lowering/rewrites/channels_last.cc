#include "loops/lowering/rewrites/channels_last.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"
#include "hlo/ir/id_map.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

// Fewer channels fill no vector, of f32 in the widest ones.
constexpr int64_t kLeastChannels = 16;

int64_t SizeOf(const hlo::Shape& shape, const DimensionVector& dimensions) {
  int64_t size = 1;
  for (int64_t d : dimensions) size *= shape.dimension(d);
  return size;
}

// The order of dimensions with `channels` moved to the end: entry i is the
// dimension that becomes dimension i.
DimensionVector OrderWithLast(int64_t rank, int64_t channels) {
  DimensionVector order = hlo::IdentityPermutation(rank);
  order.erase(order.begin() + channels);
  order.push_back(channels);
  return order;
}

template <typename List>
void Reorder(List& list, const DimensionVector& order) {
  List reordered;
  for (int64_t from : order) {
    reordered.push_back(list[static_cast<size_t>(from)]);
  }
  list = std::move(reordered);
}

void MapThrough(DimensionVector& dimensions, const DimensionVector& places) {
  for (int64_t& d : dimensions) d = places[static_cast<size_t>(d)];
}

// Finds the arrays of a computation that change together.
class Groups {
 public:
  explicit Groups(const hlo::Computation& computation)
      : computation_(computation), parents_(hlo::kNoInstruction) {
    for (const Instruction& i : computation.instructions()) {
      if (!IsRankPreserving(i)) continue;
      for (InstructionId operand : Connected(i)) Join(i.id(), operand);
    }
  }

  // Returns the order of dimensions that each array with a new one gets;
  // nullopt if there is none.
  std::optional<hlo::IdMap<DimensionVector>> Choose() {
    for (const Instruction& i : computation_.instructions()) {
      if (i.opcode() == Opcode::kConvolution) Vote(i);
    }
    for (const Instruction& i : computation_.instructions()) AddCosts(i);
    std::optional<hlo::IdMap<DimensionVector>> orders;
    for (const Instruction& i : computation_.instructions()) {
      if (!i.shape().IsArray()) continue;
      const auto votes = votes_.find(Root(i.id()));
      if (votes == votes_.end()) continue;
      const std::map<int64_t, int64_t>& elements = votes->second;
      const auto most = absl::c_max_element(
          elements,
          [](const auto& a, const auto& b) { return a.second < b.second; });
      const int64_t rank = i.shape().rank();
      int64_t gain = 2 * most->second;
      for (const auto& [channels, seen] : elements) gain -= seen;
      if (most->first == rank - 1 || gain <= costs_[votes->first]) continue;
      if (!orders.has_value()) orders.emplace();
      (*orders)[i.id()] = OrderWithLast(rank, most->first);
    }
    return orders;
  }

  // Returns true if result and operands have the same dimensions, in the same
  // order, up to their sizes.
  static bool IsRankPreserving(const Instruction& i) {
    if (!i.shape().IsArray() || i.shape().is_dynamic()) return false;
    switch (i.opcode()) {
      case Opcode::kBitcastConvert:  // may add a dimension
        return false;
      case Opcode::kConcatenate:
      case Opcode::kPad:
      case Opcode::kReduceWindow:
      case Opcode::kReverse:
      case Opcode::kSlice:
        return true;
      default:
        return hlo::IsElementwise(i.opcode());
    }
  }

 private:
  // Returns the operands that have the dimensions of the result.
  std::vector<InstructionId> Connected(const Instruction& i) const {
    std::vector<InstructionId> operands;
    for (InstructionId operand : i.operands()) {
      const hlo::Shape& shape = computation_[operand].shape();
      if (shape.IsArray() && shape.rank() == i.shape().rank() &&
          shape.rank() > 2) {
        operands.push_back(operand);
      }
    }
    return operands;
  }

  InstructionId Root(InstructionId id) {
    InstructionId root = id;
    while (Parent(root) != root) root = Parent(root);
    while (Parent(id) != root) id = std::exchange(parents_[id], root);
    return root;
  }
  InstructionId Parent(InstructionId id) {
    InstructionId& parent = parents_[id];
    if (parent == hlo::kNoInstruction) parent = id;
    return parent;
  }
  void Join(InstructionId a, InstructionId b) { parents_[Root(a)] = Root(b); }

  // What a convolution wants last: the channels, also in the gradient of
  // weights, which adds up over batches and positions and takes channels as
  // batches.
  void Vote(const Instruction& convolution) {
    const hlo::ConvolutionDimensions& dims =
        *convolution.attributes().convolution;
    const InstructionId input = convolution.operand(0);
    const InstructionId kernel = convolution.operand(1);
    if (dims.output_spatial.empty()) return;
    const bool is_weight_gradient =
        SizeOf(computation_[kernel].shape(), dims.kernel_spatial) >
        SizeOf(convolution.shape(), dims.output_spatial);
    if (is_weight_gradient) {
      Vote(input, dims.input_batch);
      Vote(kernel, dims.kernel_output_feature);
    } else {
      Vote(input, dims.input_feature);
      Vote(convolution.id(), dims.output_feature);
    }
  }

  void Vote(InstructionId array, int64_t channels) {
    const hlo::Shape& shape = computation_[array].shape();
    if (shape.dimension(channels) < kLeastChannels) return;
    votes_[Root(array)][channels] += shape.num_elements();
  }

  // Adds the elements that transposes move at the borders of groups.
  void AddCosts(const Instruction& i) {
    if (!IsMadeInAnyOrder(i)) AddCost(i.id());
    if (i.id() == computation_.root()) AddCost(i.id());
    if (IsRankPreserving(i) || IsReadInAnyOrder(i)) return;
    for (InstructionId operand : i.operands()) AddCost(operand);
  }

  void AddCost(InstructionId array) {
    const auto votes = votes_.find(Root(array));
    if (votes == votes_.end()) return;
    costs_[votes->first] += computation_[array].shape().num_elements();
  }

  static bool IsMadeInAnyOrder(const Instruction& i) {
    switch (i.opcode()) {
      case Opcode::kBroadcast:
      case Opcode::kConvolution:
      case Opcode::kIota:
      case Opcode::kTranspose:
        return true;
      default:
        return IsRankPreserving(i);
    }
  }

  static bool IsReadInAnyOrder(const Instruction& i) {
    return i.opcode() == Opcode::kConvolution ||
           i.opcode() == Opcode::kReduce || i.opcode() == Opcode::kTranspose;
  }

  const hlo::Computation& computation_;
  // A forest: arrays of one tree change together.
  hlo::IdMap<InstructionId> parents_;
  // By root: the elements that want a dimension last.
  absl::flat_hash_map<InstructionId, std::map<int64_t, int64_t>> votes_;
  absl::flat_hash_map<InstructionId, int64_t> costs_;
};

// Rewrites the instructions of one computation, operands first. Each has its
// new order behind a transpose, whose readers read through it.
class Reorderer {
 public:
  Reorderer(hlo::Rewriter& r, hlo::IdMap<DimensionVector> orders)
      : r_(r), orders_(std::move(orders)) {}

  void Run() {
    for (InstructionId id : r_.computation().PostOrder()) {
      if (!r_.computation().Contains(id) || !r_.MayReplace(id)) continue;
      Rewrite(id);
      r_.EndRewrite();
    }
  }

 private:
  const DimensionVector* OrderOf(InstructionId id) const {
    const DimensionVector& order = orders_.at(id);
    return order.empty() ? nullptr : &order;
  }

  void Rewrite(InstructionId id) {
    const DimensionVector* const order = OrderOf(id);
    switch (r_[id].opcode()) {
      case Opcode::kConvolution:
        return RewriteConvolution(id, order);
      case Opcode::kReduce:
        return RewriteReduce(id);
      case Opcode::kTranspose:
        return FoldTransposes(id);
      case Opcode::kBroadcast:
        if (order != nullptr) RewriteBroadcast(id, *order);
        return;
      default:
        if (order != nullptr && (r_[id].opcode() == Opcode::kIota ||
                                 Groups::IsRankPreserving(r_[id]))) {
          RewriteRankPreserving(id, *order);
        }
    }
  }

  // Returns `id` with its dimensions in that order.
  InstructionId InOrder(InstructionId id, DimensionVector order) {
    if (r_.Is(id, Opcode::kTranspose)) {
      DimensionVector inner = r_[id].dimensions();
      Reorder(inner, order);
      order = std::move(inner);
      id = r_.operand(id, 0);
    }
    return hlo::IsIdentityPermutation(order)
               ? id
               : hlo::MakeTranspose(r_, id, order);
  }

  void ReplaceInOrder(InstructionId id, InstructionId reordered,
                      const DimensionVector& order) {
    r_.Replace(
        id, hlo::MakeTranspose(r_, reordered, hlo::InversePermutation(order)));
  }

  void RewriteRankPreserving(InstructionId id, const DimensionVector& order) {
    std::vector<InstructionId> operands;
    for (InstructionId operand : r_[id].operands()) {
      const bool follows = r_.shape(operand).rank() == r_.shape(id).rank();
      operands.push_back(follows ? InOrder(operand, order) : operand);
    }
    const DimensionVector places = hlo::InversePermutation(order);
    hlo::Attributes attributes = r_[id].attributes();
    MapThrough(attributes.dimensions, places);
    if (!attributes.padding.empty()) Reorder(attributes.padding, order);
    if (!attributes.slice.empty()) Reorder(attributes.slice, order);
    if (attributes.window != nullptr) {
      hlo::Window window = *attributes.window;
      Reorder(window, order);
      attributes.window =
          std::make_shared<const hlo::Window>(std::move(window));
    }
    if (r_.Is(id, Opcode::kIota)) {
      const hlo::Shape& shape = r_.shape(id);
      DimensionVector sizes = shape.dimensions();
      Reorder(sizes, order);
      return ReplaceInOrder(id,
                            hlo::MakeIota(r_, shape.element_type(), sizes,
                                          attributes.dimensions[0]),
                            order);
    }
    ReplaceInOrder(id, hlo::MakeLike(r_, id, operands, std::move(attributes)),
                   order);
  }

  void RewriteBroadcast(InstructionId id, const DimensionVector& order) {
    DimensionVector mapping = r_[id].dimensions();
    MapThrough(mapping, hlo::InversePermutation(order));
    DimensionVector sizes = r_.dimensions_of(id);
    Reorder(sizes, order);
    const InstructionId operand = Ascending(r_.operand(id, 0), mapping);
    ReplaceInOrder(id, hlo::MakeBroadcast(r_, operand, sizes, mapping), order);
  }

  // Returns the operand of a broadcast with its dimensions in the order of
  // those that they become, and sorts these.
  InstructionId Ascending(InstructionId operand, DimensionVector& mapping) {
    DimensionVector order =
        hlo::IdentityPermutation(static_cast<int64_t>(mapping.size()));
    absl::c_sort(order, [&](int64_t a, int64_t b) {
      return mapping[static_cast<size_t>(a)] < mapping[static_cast<size_t>(b)];
    });
    absl::c_sort(mapping);
    return InOrder(operand, order);
  }

  // A reduction reads its operands as they are stored, and only its result,
  // which is smaller, is transposed.
  void RewriteReduce(InstructionId id) {
    const InstructionId first = r_.operand(id, 0);
    if (!r_.shape(id).IsArray() || !r_.Is(first, Opcode::kTranspose)) return;
    const DimensionVector order =
        hlo::InversePermutation(r_[first].dimensions());
    DimensionVector kept;
    for (int64_t d : order) {
      if (!hlo::Contains(r_[id].dimensions(), d)) kept.push_back(d);
    }
    hlo::Attributes attributes = r_[id].attributes();
    MapThrough(attributes.dimensions, hlo::InversePermutation(order));
    absl::c_sort(attributes.dimensions);
    InstructionId reduced =
        hlo::MakeLike(r_, id, {InOrder(first, order), r_.operand(id, 1)},
                      std::move(attributes));
    // Where the dimensions that are left go.
    DimensionVector sorted = kept;
    absl::c_sort(sorted);
    for (int64_t& d : kept) d = absl::c_find(sorted, d) - sorted.begin();
    r_.Replace(id, InOrder(reduced, hlo::InversePermutation(kept)));
  }

  void FoldTransposes(InstructionId id) {
    if (!r_.Is(r_.operand(id, 0), Opcode::kTranspose)) return;
    r_.Replace(id, InOrder(r_.operand(id, 0), r_[id].dimensions()));
  }

  void RewriteConvolution(InstructionId id, const DimensionVector* order) {
    const Instruction& old = r_[id];
    const InstructionId input = old.operand(0);
    const InstructionId kernel = old.operand(1);
    hlo::Attributes attributes = old.attributes();
    hlo::ConvolutionDimensions dims = *attributes.convolution;
    const InstructionId new_input = AsStored(
        input, dims.input_batch, dims.input_feature, dims.input_spatial);
    const InstructionId new_kernel =
        AsStored(kernel, dims.kernel_input_feature, dims.kernel_output_feature,
                 dims.kernel_spatial);
    if (order != nullptr) {
      MapAll(hlo::InversePermutation(*order), dims.output_batch,
             dims.output_feature, dims.output_spatial);
    } else if (new_input == input && new_kernel == kernel) {
      return;
    }
    attributes.convolution =
        std::make_shared<const hlo::ConvolutionDimensions>(std::move(dims));
    const InstructionId convolution =
        hlo::MakeLike(r_, id, {new_input, new_kernel}, std::move(attributes));
    if (order == nullptr) {
      r_.Replace(id, convolution);
    } else {
      ReplaceInOrder(id, convolution, *order);
    }
  }

  static void MapAll(const DimensionVector& places, int64_t& a, int64_t& b,
                     DimensionVector& spatial) {
    a = places[static_cast<size_t>(a)];
    b = places[static_cast<size_t>(b)];
    MapThrough(spatial, places);
  }

  // Returns an operand of a convolution in the order in which it is to be
  // stored, and where the dimensions are that a, b and spatial were.
  InstructionId AsStored(InstructionId operand, int64_t& a, int64_t& b,
                         DimensionVector& spatial) {
    DimensionVector order;
    if (r_.Is(operand, Opcode::kTranspose)) {
      order = hlo::InversePermutation(r_[operand].dimensions());
    } else if (const DimensionVector* const chosen = OrderOf(operand)) {
      order = *chosen;
    } else {
      return operand;
    }
    MapAll(hlo::InversePermutation(order), a, b, spatial);
    return InOrder(operand, order);
  }

  hlo::Rewriter& r_;
  const hlo::IdMap<DimensionVector> orders_;
};

}  // namespace

absl::Status PutChannelsLast(hlo::Module& module) {
  const hlo::RewriteRule rule = {.name = "channels last",
                                 .opcodes = {Opcode::kConvolution}};
  return hlo::RewriteComputations(module, rule, {},
                                  [](hlo::Rewriter& r) {
                                    auto orders =
                                        Groups(r.computation()).Choose();
                                    if (orders.has_value())
                                      Reorderer(r, *std::move(orders)).Run();
                                  })
      .status();
}

}  // namespace hone::loops

// Gathers and scatters. The rules on reshapes are exact; those of indices and
// updates are for gather-reshape-folding and reshape-group-mover, not part of
// algsimp, as gather_simplifier wants the opposite.
//
//   gather(x, reshape(i)) → gather(x, i)     the reshape only appends or drops
//     the dimension of a one-element index vector; likewise scatter
//   reshape(gather(x, i)) → gather(x, i)     the reshape inserts a dimension of
//     size 1, which is one that the gather collapsed and now keeps; the gather
//     has no other user and no annotation
//   scatter(x, i, reshape(u)) → scatter(x, i, u): the reshape drops one
//     dimension of size 1, in whose place the scatter inserted one
//   x + scatter(0, i, u) → scatter(x, i, u)  a scatter that adds, with one
//     operand and no other user. Exact for integers and where every element is
//     updated once at most. Otherwise it changes range: x + u1 may overflow, or
//     swallow u1, where the updates alone are in range and add up; so never in
//     types of less than 32 bits, where a few updates already stagnate.
//     Upstream does it always.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/rewrite/index_vectors.h"

namespace hone::hlo::algsimp {
namespace {

// If `indices` is a reshape that appends or drops a last dimension of size 1
// which stands for the index vector, what it reshapes: an index_vector_dim
// behind the last dimension means the same. kNoInstruction otherwise.
InstructionId WithoutVectorReshape(const Rewriter& r, InstructionId indices,
                                   int64_t index_vector_dim) {
  InstructionId source;
  if (!r.Match(indices, m::Reshape(m::Op(&source)))) return kNoInstruction;
  const DimensionVector& a = r.dimensions_of(source);
  const DimensionVector& b = r.dimensions_of(indices);
  DimensionVector shorter = a.size() < b.size() ? a : b;
  if (index_vector_dim != static_cast<int64_t>(shorter.size())) {
    return kNoInstruction;
  }
  shorter.push_back(1);
  return shorter == (a.size() < b.size() ? b : a) ? source : kNoInstruction;
}

// A dimension of size 1 that a reshape inserts into the result of a gather (or,
// read backwards, drops from the updates of a scatter), and the window
// dimension of the operand that it can stand for.
struct Insertion {
  // Where the dimension is in the longer shape.
  int64_t position;
  // A collapsed dimension of the operand.
  int64_t window_dim;
};

// `offset_dims` are the window's dimensions within `shorter`, `collapsed` and
// `batching` the dimensions of the operand that are not among them. Window
// dimensions keep the operand's order, which decides what may go where.
std::optional<Insertion> FindInsertion(const DimensionVector& shorter,
                                       const DimensionVector& longer,
                                       const DimensionVector& offset_dims,
                                       const DimensionVector& collapsed,
                                       const DimensionVector& batching) {
  if (longer.size() != shorter.size() + 1) return std::nullopt;
  const auto count_below = [](const DimensionVector& dimensions, int64_t d) {
    return std::count_if(dimensions.begin(), dimensions.end(),
                         [d](int64_t other) { return other < d; });
  };
  for (int64_t p = 0; p < static_cast<int64_t>(longer.size()); ++p) {
    if (longer[static_cast<size_t>(p)] != 1 ||
        WithoutDimensions(longer, {p}) != shorter) {
      continue;
    }
    // Window dimensions in front of the new one, in the result and, for each
    // choice, in the operand.
    for (int64_t d : collapsed) {
      if (d - count_below(collapsed, d) - count_below(batching, d) ==
          count_below(offset_dims, p)) {
        return Insertion{p, d};
      }
    }
  }
  return std::nullopt;
}

void Insert(const Insertion& insertion, DimensionVector& offset_dims,
            DimensionVector& collapsed) {
  for (int64_t& offset : offset_dims) {
    if (offset >= insertion.position) ++offset;
  }
  offset_dims.insert(std::upper_bound(offset_dims.begin(), offset_dims.end(),
                                      insertion.position),
                     insertion.position);
  collapsed.erase(
      std::find(collapsed.begin(), collapsed.end(), insertion.window_dim));
}

bool ScatterOfReshape(Rewriter& r, InstructionId id) {
  InstructionId updates;
  if (!r.Match(id, m::Scatter(m::Op(), m::Op(), m::Reshape(m::Op(&updates))))) {
    return false;
  }
  Attributes attributes = r[id].attributes();
  ScatterDimensions d = *attributes.scatter;
  const std::optional<Insertion> insertion = FindInsertion(
      r.dimensions_of(r.operand(id, 2)), r.dimensions_of(updates),
      d.update_window_dims, d.inserted_window_dims, d.input_batching_dims);
  // Of nothing there is no window of one.
  if (!insertion.has_value() ||
      r.shape(id).dimension(insertion->window_dim) == 0) {
    return false;
  }
  Insert(*insertion, d.update_window_dims, d.inserted_window_dims);
  attributes.scatter = std::make_shared<const ScatterDimensions>(std::move(d));
  return r.Replace(
      id, MakeLike(r, id, {r.operand(id, 0), r.operand(id, 1), updates},
                   std::move(attributes)));
}

// Returns true if a scatter of one operand updates no element twice.
bool UpdatesOnce(const Rewriter& r, InstructionId scatter) {
  const Attributes& attributes = r[scatter].attributes();
  return attributes.unique_indices ||
         IndexVectorCount(r.shape(r.operand(scatter, 1)),
                          attributes.scatter->index_vector_dim) <= 1;
}

}  // namespace

bool ReshapeOfGather(Rewriter& r, InstructionId id) {
  const InstructionId gather = r.operand(id, 0);
  if (!MayAbsorb(r, gather, id)) return false;
  Attributes attributes = r[gather].attributes();
  GatherDimensions d = *attributes.gather;
  const std::optional<Insertion> insertion =
      FindInsertion(r.dimensions_of(gather), r.dimensions_of(id), d.offset_dims,
                    d.collapsed_slice_dims, d.operand_batching_dims);
  if (!insertion.has_value() ||
      d.slice_sizes[static_cast<size_t>(insertion->window_dim)] != 1) {
    return false;
  }
  Insert(*insertion, d.offset_dims, d.collapsed_slice_dims);
  attributes.gather = std::make_shared<const GatherDimensions>(std::move(d));
  return r.Replace(
      id, MakeLike(r, gather, r[gather].operands(), std::move(attributes)));
}

bool SimplifyGather(Rewriter& r, InstructionId id) {
  const InstructionId indices = WithoutVectorReshape(
      r, r.operand(id, 1), r[id].attributes().gather->index_vector_dim);
  return indices != kNoInstruction &&
         r.Replace(id, MakeLike(r, id, {r.operand(id, 0), indices}));
}

bool SimplifyScatter(Rewriter& r, InstructionId id) {
  InstructionIds operands = r[id].operands();
  InstructionId& indices = operands[operands.size() / 2];
  indices = WithoutVectorReshape(r, indices,
                                 r[id].attributes().scatter->index_vector_dim);
  if (indices == kNoInstruction) return ScatterOfReshape(r, id);
  return r.Replace(id, MakeLike(r, id, operands));
}

bool AddIntoScatter(Rewriter& r, InstructionId id) {
  const ElementType type = r.shape(id).element_type();
  for (size_t i = 2; i-- > 0;) {
    const InstructionId scatter = r.operand(id, i);
    InstructionId indices;
    InstructionId updates;
    if (!r.Match(scatter,
                 m::Scatter(m::Uniform(0), m::Op(&indices), m::Op(&updates))) ||
        !MayAbsorb(r, scatter, id) ||
        ReductionOpcode(r.module().computation(r[scatter].called()[0])) !=
            Opcode::kAdd) {
      continue;
    }
    const bool is_exact = !IsFloat(type) || UpdatesOnce(r, scatter);
    if (!is_exact &&
        (BitWidth(type) < 32 || !r.Permits(NumericClass::kChangesRange))) {
      continue;
    }
    return r.Replace(
        id, MakeLike(r, scatter, {r.operand(id, 1 - i), indices, updates}));
  }
  return false;
}

}  // namespace hone::hlo::algsimp

#include "loops/lowering/kernel/nest.h"

#include <memory>
#include <utility>

#include "base/check.h"

namespace hone::loops {
namespace {

// Larger temporaries go to the heap.
constexpr int64_t kMaxStackBytes = 16 << 10;

}  // namespace

VarId Nest::OpenLoop(int64_t extent) {
  Loop loop;
  loop.var = program_.NewVar();
  loop.extent = extent;
  extents_.emplace(loop.var, extent);
  open_.push_back(std::move(loop));
  return open_.back().var;
}

Affine Nest::AddLoop(int64_t extent) {
  const size_t loop = next_loop_++;
  if (loop == factors_.size()) factors_.push_back({extent});
  Affine index;
  for (size_t f = 0; f < factors_[loop].size(); ++f) {
    const int64_t factor = factors_[loop][f];
    index *= factor;
    if (factor == 1) continue;
    const VarId var = OpenLoop(factor);
    places_.emplace(var, Place{loop, f});
    index += Affine::Var(var);
  }
  return index;
}

Indices Nest::AddLoops(absl::Span<const int64_t> extents) {
  Indices indices;
  for (int64_t extent : extents) indices.push_back(AddLoop(extent));
  return indices;
}

Affine Nest::AddBoundedLoop(int64_t extent, const Affine& bound) {
  const bool is_full = RangeOf(bound).lo >= extent;
  if (is_full && extent == 1) return 0;
  const VarId var = OpenLoop(extent);
  if (!is_full) open_.back().bound = bound;
  return Affine::Var(var);
}

void Nest::CloseTo(size_t depth) {
  while (open_.size() > depth) {
    Loop loop = std::move(open_.back());
    open_.pop_back();
    // Drops loops without statements or iterations.
    if (loop.body.empty() || loop.extent == 0) continue;
    body().emplace_back(std::make_shared<const Loop>(std::move(loop)));
  }
}

void Nest::Store(Access target, ExpressionPtr value,
                 std::optional<hlo::Opcode> combine, ExpressionPtr predicate) {
  Statement statement;
  statement.target = std::move(target);
  statement.value = std::move(value);
  statement.combine = combine;
  statement.predicate = std::move(predicate);
  body().emplace_back(std::make_shared<const Statement>(std::move(statement)));
}

ExpressionPtr Nest::Hold(absl::string_view name, ExpressionPtr value) {
  const hlo::ElementType type = value->type();
  const Access held{Temporary(name, type), {}};
  Store(held, std::move(value));
  return Expression::Load(type, held);
}

BufferId Nest::Temporary(absl::string_view name, hlo::ElementType type,
                         absl::Span<const int64_t> dimensions) {
  Buffer buffer;
  buffer.name = names_.Unique(name);
  buffer.type = type;
  buffer.dimensions.assign(dimensions.begin(), dimensions.end());
  buffer.strides = DenseStrides(dimensions);
  buffer.memory = Memory::kRegister;
  if (!dimensions.empty()) {
    buffer.memory = buffer.allocated_bytes() <= kMaxStackBytes ? Memory::kStack
                                                               : Memory::kHeap;
  }
  const BufferId id = program_.AddBuffer(std::move(buffer));
  (open_.empty() ? locals_ : open_.back().locals).push_back(id);
  return id;
}

std::optional<Indices> Nest::Reindex(absl::Span<const int64_t> from,
                                     absl::Span<const int64_t> to,
                                     const Indices& indices,
                                     std::optional<VarSplit>* split) const {
  std::optional<VarSplit> wish;
  auto result = loops::Reindex(
      from, to, indices, [this](VarId v) { return extent(v); }, wish);
  if (split != nullptr && wish.has_value() && places_.contains(wish->var)) {
    *split = wish;
  }
  return result;
}

void Nest::ApplySplit() {
  HONE_CHECK(split_.has_value());
  const Place place = places_.at(split_->var);
  std::vector<int64_t>& factors = factors_[place.loop];
  factors[place.factor] /= split_->inner;
  factors.insert(
      factors.begin() + static_cast<std::ptrdiff_t>(place.factor) + 1,
      split_->inner);
}

void Nest::Finish() {
  CloseTo(0);
  auto& locals = program_.mutable_locals();
  locals.insert(locals.end(), locals_.begin(), locals_.end());
  auto& body = program_.mutable_body();
  body.insert(body.end(), std::make_move_iterator(body_.begin()),
              std::make_move_iterator(body_.end()));
}

}  // namespace hone::loops

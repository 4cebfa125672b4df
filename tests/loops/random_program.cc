#include "tests/loops/random_program.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "tests/loops/random_expression.h"

namespace hone::testing {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Opcode;
using loops::Access;
using loops::Affine;
using loops::Buffer;
using loops::BufferId;
using loops::Expression;
using loops::ExpressionPtr;
using loops::Loop;
using loops::LoopMode;
using loops::Memory;
using loops::Node;
using loops::Program;
using loops::Statement;
using loops::VarId;

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : rng_(seed), program_("random"), expressions_(program_, rng_) {}

  Program Generate() {
    const int arguments = 1 + static_cast<int>(Below(3));
    for (int i = 0; i < arguments; ++i) {
      static constexpr ElementType kTypes[] = {
          ElementType::kF32,  ElementType::kF32, ElementType::kF64,
          ElementType::kBf16, ElementType::kF16, ElementType::kS32,
          ElementType::kU8,   ElementType::kPred};
      Buffer buffer;
      buffer.memory = Memory::kArgument;
      buffer.number = i;
      buffer.type =
          i == 0 ? ElementType::kF32 : kTypes[Below(std::size(kTypes))];
      buffer.dimensions = AnyDimensions();
      buffer.strides = loops::DenseStrides(buffer.dimensions);
      expressions_.AddReadable(AddBuffer(std::move(buffer)));
    }
    if (Chance(0.3)) AddConstant();
    const int nests = 2 + static_cast<int>(Below(4));
    for (int i = 0; i < nests; ++i) {
      const bool is_result = i + 1 == nests || Chance(0.3);
      switch (Below(4)) {
        case 0:
          AddReduction(is_result);
          break;
        case 1:
          AddAccumulation(is_result);
          break;
        case 2:
          AddStaged(is_result);
          break;
        default:
          AddElementwise(is_result);
          break;
      }
    }
    return std::move(program_);
  }

 private:
  struct Level {
    Loop loop;
    // Iterations write different elements.
    bool independent = true;
    // The variable of the loop that must be around this one.
    std::optional<VarId> outer;
  };

  uint64_t Below(uint64_t bound) { return rng_.Below(bound); }
  bool Chance(double probability) { return rng_.Uniform() < probability; }

  DimensionVector AnyDimensions() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 5, 7, 8};
    DimensionVector dimensions(1 + Below(3));
    for (int64_t& size : dimensions) size = kSizes[Below(std::size(kSizes))];
    return dimensions;
  }

  ElementType AnyType() {
    if (Chance(0.2)) return ElementType::kS32;
    return Chance(0.1) ? ElementType::kF64 : ElementType::kF32;
  }

  BufferId AddBuffer(Buffer buffer) {
    if (buffer.name.empty()) {
      buffer.name = absl::StrCat("b", program_.buffers().size());
    }
    return program_.AddBuffer(std::move(buffer));
  }

  void AddConstant() {
    Buffer buffer;
    buffer.memory = Memory::kConstant;
    buffer.dimensions = AnyDimensions();
    buffer.strides = loops::DenseStrides(buffer.dimensions);
    auto literal = std::make_shared<hlo::Literal>(
        hlo::Shape::Array(buffer.type, buffer.dimensions));
    for (int64_t i = 0; i < literal->num_elements(); ++i) {
      literal->SetDouble(i, rng_.Normal());
    }
    buffer.literal = std::move(literal);
    expressions_.AddReadable(AddBuffer(std::move(buffer)));
  }

  // A result, or a local of the whole kernel with any strides.
  BufferId AddTarget(bool is_result, ElementType type,
                     const DimensionVector& dimensions) {
    Buffer buffer;
    buffer.type = type;
    buffer.dimensions = dimensions;
    buffer.strides = loops::DenseStrides(dimensions);
    if (is_result) {
      buffer.memory = Chance(0.3) ? Memory::kInOut : Memory::kResult;
      buffer.number = results_++;
      return AddBuffer(std::move(buffer));
    }
    buffer.memory = Chance(0.5) ? Memory::kHeap : Memory::kStack;
    if (Chance(0.3)) {
      // The first dimension fastest, padded.
      int64_t stride = 1;
      for (size_t i = 0; i < dimensions.size(); ++i) {
        buffer.strides[i] = stride;
        stride *= dimensions[i] + static_cast<int64_t>(Below(2));
      }
    }
    const BufferId id = AddBuffer(std::move(buffer));
    program_.mutable_locals().push_back(id);
    return id;
  }

  // The axis as one loop, or as tiles, the last one shorter if need be.
  Axis AddAxis(int64_t size, bool independent, std::vector<Level>& levels) {
    Level outer;
    outer.independent = independent;
    outer.loop.var = program_.NewVar();
    outer.loop.extent = size;
    if (size == 1 || Chance(0.6)) {
      levels.push_back(std::move(outer));
      return {Affine::Var(levels.back().loop.var), size};
    }
    const int64_t tile = 2 + static_cast<int64_t>(Below(3));
    outer.loop.extent = (size + tile - 1) / tile;
    Level inner;
    inner.independent = independent;
    inner.loop.var = program_.NewVar();
    inner.loop.extent = tile;
    inner.outer = outer.loop.var;
    const Affine start = Affine::Var(outer.loop.var, tile);
    if (size % tile != 0) inner.loop.bound = Affine(size) - start;
    const Affine index = start + Affine::Var(inner.loop.var);
    levels.push_back(std::move(outer));
    levels.push_back(std::move(inner));
    return {index, size};
  }

  std::vector<Axis> AddAxes(const DimensionVector& dimensions, bool independent,
                            std::vector<Level>& levels) {
    std::vector<Axis> axes;
    for (int64_t size : dimensions) {
      axes.push_back(AddAxis(size, independent, levels));
    }
    return axes;
  }

  // Any order in which tiles are around what is in them.
  void Shuffle(std::vector<Level>& levels) {
    for (size_t i = levels.size(); i > 1; --i) {
      std::swap(levels[i - 1], levels[Below(i)]);
    }
    for (size_t i = 0; i < levels.size(); ++i) {
      for (size_t j = i + 1; j < levels.size(); ++j) {
        if (levels[i].outer == levels[j].loop.var)
          std::swap(levels[i], levels[j]);
      }
    }
  }

  void ChooseModes(std::vector<Level>& levels, bool statements_only) {
    bool parallel = false;
    for (Level& level : levels) {
      const bool innermost = &level == &levels.back();
      if (level.independent && !parallel && Chance(0.2)) {
        level.loop.mode = LoopMode::kParallel;
        parallel = true;
      } else if (level.independent && innermost && statements_only &&
                 Chance(0.3)) {
        level.loop.mode = LoopMode::kVector;
      } else if (Chance(0.1)) {
        level.loop.mode = LoopMode::kUnrolled;
      }
    }
  }

  // The loops around `body`, outermost first.
  static Node Nest(const std::vector<Level>& levels, std::vector<Node> body) {
    for (size_t i = levels.size(); i-- > 0;) {
      auto loop = std::make_shared<Loop>(levels[i].loop);
      loop->body = std::move(body);
      body.clear();
      body.emplace_back(std::shared_ptr<const Loop>(std::move(loop)));
    }
    return body[0];
  }

  static Access AccessTo(BufferId buffer, const std::vector<Axis>& axes) {
    Access access;
    access.buffer = buffer;
    for (const Axis& axis : axes) access.indices.push_back(axis.index);
    return access;
  }

  static Node Assign(Access target, ExpressionPtr value,
                     std::optional<Opcode> combine = std::nullopt,
                     ExpressionPtr predicate = nullptr,
                     bool non_temporal = false) {
    auto statement = std::make_shared<Statement>();
    statement->target = std::move(target);
    statement->value = std::move(value);
    statement->combine = combine;
    statement->predicate = std::move(predicate);
    statement->non_temporal = non_temporal;
    return std::shared_ptr<const Statement>(std::move(statement));
  }

  void AddElementwise(bool is_result) {
    const DimensionVector dimensions = AnyDimensions();
    const ElementType type = AnyType();
    std::vector<Level> levels;
    const std::vector<Axis> axes = AddAxes(dimensions, true, levels);
    const BufferId target = AddTarget(is_result, type, dimensions);
    std::vector<Node> body;
    body.push_back(Assign(AccessTo(target, axes),
                          expressions_.Value(type, axes, 2), std::nullopt,
                          nullptr, is_result && Chance(0.2)));
    if (Chance(0.3)) {
      body.push_back(Assign(AccessTo(target, axes),
                            expressions_.Value(type, axes, 1), std::nullopt,
                            expressions_.Condition(axes)));
    }
    Shuffle(levels);
    ChooseModes(levels, true);
    program_.mutable_body().push_back(Nest(levels, std::move(body)));
    expressions_.AddReadable(target);
  }

  // An operation and what it begins with.
  struct Reduction {
    Opcode opcode;
    ExpressionPtr initial;
  };
  Reduction AnyReduction(ElementType type) {
    const bool is_float = type != ElementType::kS32;
    const auto number = [&](double value) {
      return is_float
                 ? Expression::Constant(type, value)
                 : Expression::ConstantInt(type, static_cast<int64_t>(value));
    };
    switch (Below(is_float ? 3 : 6)) {
      case 0:
        return {Opcode::kMaximum, number(-100)};
      case 1:
        return {Opcode::kMinimum, number(100)};
      case 3:
        return {Opcode::kAnd, number(-1)};
      case 4:
        return {Opcode::kOr, number(0)};
      case 5:
        return {Opcode::kXor, number(0)};
      default:
        return {Opcode::kAdd, number(0)};
    }
  }

  // One nest that sets the target, and one that reduces into it.
  void AddReduction(bool is_result) {
    const DimensionVector dimensions = AnyDimensions();
    const ElementType type = AnyType();
    const Reduction reduction = AnyReduction(type);
    std::vector<Level> first;
    const std::vector<Axis> first_axes = AddAxes(dimensions, true, first);
    const BufferId target = AddTarget(is_result, type, dimensions);
    program_.mutable_body().push_back(
        Nest(first, {Assign(AccessTo(target, first_axes), reduction.initial)}));
    std::vector<Level> levels;
    std::vector<Axis> axes = AddAxes(dimensions, true, levels);
    const Access access = AccessTo(target, axes);
    axes.push_back(AddAxis(5, false, levels));
    if (Chance(0.3)) axes.push_back(AddAxis(3, false, levels));
    ExpressionPtr predicate =
        Chance(0.3) ? expressions_.Condition(axes) : nullptr;
    Node statement = Assign(access, expressions_.Value(type, axes, 2),
                            reduction.opcode, std::move(predicate));
    Shuffle(levels);
    ChooseModes(levels, true);
    program_.mutable_body().push_back(Nest(levels, {std::move(statement)}));
    expressions_.AddReadable(target);
  }

  // A reduction into a scalar that is local to the loops over the target.
  void AddAccumulation(bool is_result) {
    const DimensionVector dimensions = AnyDimensions();
    const ElementType type = AnyType();
    const Reduction reduction = AnyReduction(type);
    std::vector<Level> levels;
    std::vector<Axis> axes = AddAxes(dimensions, true, levels);
    const BufferId target = AddTarget(is_result, type, dimensions);
    const Access access = AccessTo(target, axes);
    Buffer local;
    local.type = type;
    local.memory = Chance(0.7) ? Memory::kRegister : Memory::kStack;
    const BufferId sum = AddBuffer(std::move(local));
    Access to_sum;
    to_sum.buffer = sum;
    std::vector<Level> inner;
    axes.push_back(AddAxis(7, false, inner));
    Node reduce = Nest(inner, {Assign(to_sum, expressions_.Value(type, axes, 2),
                                      reduction.opcode)});
    Shuffle(levels);
    ChooseModes(levels, false);
    levels.back().loop.locals.push_back(sum);
    program_.mutable_body().push_back(
        Nest(levels, {Assign(to_sum, reduction.initial), std::move(reduce),
                      Assign(access, Expression::Load(type, to_sum))}));
    expressions_.AddReadable(target);
  }

  // Rows that are computed into a local buffer and read back from it.
  void AddStaged(bool is_result) {
    const DimensionVector dimensions = {3, 7};
    const ElementType type = AnyType();
    std::vector<Level> rows;
    const Axis row = AddAxis(dimensions[0], true, rows);
    const BufferId target = AddTarget(is_result, type, dimensions);
    Buffer local;
    local.type = type;
    local.memory = Memory::kStack;
    local.dimensions = {dimensions[1]};
    local.strides = {Chance(0.5) ? 1 : 2};
    const BufferId staged = AddBuffer(std::move(local));
    std::vector<Level> fill;
    const Axis column = AddAxis(dimensions[1], true, fill);
    Node fills =
        Nest(fill, {Assign(AccessTo(staged, {column}),
                           expressions_.Value(type, {row, column}, 2))});
    std::vector<Level> use;
    const Axis other = AddAxis(dimensions[1], true, use);
    const Axis mirrored = {Affine(dimensions[1] - 1) - other.index,
                           dimensions[1]};
    ExpressionPtr both = Expression::Apply(
        Opcode::kSubtract, type,
        {Expression::Load(type, AccessTo(staged, {other})),
         Expression::Load(type, AccessTo(staged, {mirrored}))});
    Node uses =
        Nest(use, {Assign(AccessTo(target, {row, other}), std::move(both))});
    ChooseModes(rows, false);
    rows.back().loop.locals.push_back(staged);
    program_.mutable_body().push_back(
        Nest(rows, {std::move(fills), std::move(uses)}));
    expressions_.AddReadable(target);
  }

  Rng rng_;
  Program program_;
  RandomExpressions expressions_;
  int32_t results_ = 0;
};

}  // namespace

Program RandomProgram(uint64_t seed) { return Generator(seed).Generate(); }

std::vector<hlo::Literal> RandomArguments(const Program& program,
                                          uint64_t seed) {
  Rng rng(seed);
  std::vector<const Buffer*> buffers;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    if (buffer->memory == Memory::kArgument ||
        buffer->memory == Memory::kInOut) {
      buffers.push_back(buffer.get());
    }
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer* a, const Buffer* b) {
              return std::pair(a->IsOutput(), a->number) <
                     std::pair(b->IsOutput(), b->number);
            });
  std::vector<hlo::Literal> arguments;
  for (const Buffer* buffer : buffers) {
    hlo::Literal literal(hlo::Shape::Array(buffer->type, buffer->dimensions));
    for (int64_t i = 0; i < literal.num_elements(); ++i) {
      if (hlo::IsFloat(buffer->type)) {
        literal.SetDouble(i, rng.Normal());
      } else {
        literal.SetInt(i, static_cast<int64_t>(rng.Below(
                              buffer->type == ElementType::kPred ? 2 : 8)));
      }
    }
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

}  // namespace hone::testing

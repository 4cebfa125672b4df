#include "loops/analysis/dependences.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "loops/ir/rewrite.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// A random program that need not compute anything sensible: loops with and
// without bounds, accesses of a few small buffers by dimension and by number.
class RandomAccesses {
 public:
  explicit RandomAccesses(uint64_t seed) : rng_(seed) {
    AddBuffer({}, {});
    AddBuffer({40}, {1});
    AddBuffer({24, 24}, {24, 1});
    AddBuffer({24, 24}, {1, 30});
    program_.mutable_body() = Body(0);
  }

  const Program& program() const { return program_; }

 private:
  struct Var {
    VarId var;
    int64_t extent;
  };

  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(bound)));
  }

  BufferId AddBuffer(hlo::DimensionVector dimensions,
                     hlo::DimensionVector strides) {
    Buffer buffer;
    buffer.dimensions = std::move(dimensions);
    buffer.strides = std::move(strides);
    return program_.AddBuffer(std::move(buffer));
  }

  std::vector<Node> Body(int depth) {
    std::vector<Node> body;
    const int64_t nodes = 1 + Below(2);
    for (int64_t i = 0; i < nodes; ++i) {
      body.push_back(depth < 3 && Below(4) > 0 ? RandomLoop(depth)
                                               : RandomStatement());
    }
    return body;
  }

  Node RandomLoop(int depth) {
    auto loop = std::make_shared<Loop>();
    loop->var = program_.NewVar();
    loop->extent = 1 + Below(4);
    if (!vars_.empty() && Below(3) == 0) {
      loop->bound =
          Affine(2 + Below(6)) - Affine::Var(vars_.back().var, 1 + Below(2));
    }
    vars_.push_back({loop->var, loop->extent});
    std::optional<BufferId> local;
    if (Below(3) == 0) {
      local = AddBuffer({24}, {1});
      loop->locals.push_back(*local);
      locals_.push_back(*local);
    }
    loop->body = Body(depth + 1);
    if (local.has_value()) locals_.pop_back();
    vars_.pop_back();
    return std::shared_ptr<const Loop>(std::move(loop));
  }

  // In 0 … 23, whatever the variables.
  Affine RandomAffine() {
    Affine affine = Below(3);
    for (const Var& var : vars_) {
      if (Below(2) == 0) continue;
      const int64_t coefficient = Below(4) - 1;
      affine += Affine::Var(var.var, coefficient);
      if (coefficient < 0) affine += -coefficient * (var.extent - 1);
    }
    return affine;
  }

  Access RandomAccess() {
    Access access;
    access.buffer = static_cast<BufferId>(Below(4));
    if (!locals_.empty() && Below(2) == 0) access.buffer = locals_.back();
    const Buffer& buffer = program_.buffer(access.buffer);
    if (buffer.IsDense() && buffer.dimensions.size() != 1 && Below(3) == 0) {
      Affine element;
      for (int64_t stride : buffer.strides) element += RandomAffine() * stride;
      access.indices.emplace_back(element);
      return access;
    }
    for (size_t i = 0; i < buffer.dimensions.size(); ++i) {
      access.indices.emplace_back(RandomAffine());
      if (Below(8) == 0) {
        access.indices.back().offset =
            Expression::ConstantInt(ElementType::kS32, 0);
      }
    }
    return access;
  }

  ExpressionPtr RandomValue() {
    ExpressionPtr load = Expression::Load(ElementType::kF32, RandomAccess());
    if (Below(3) > 0) return load;
    const int64_t lo = Below(8);
    return Expression::Where({{RandomAffine(), lo, lo + 1 + Below(8)}},
                             std::move(load),
                             Expression::Constant(ElementType::kF32, 0));
  }

  Node RandomStatement() {
    auto statement = std::make_shared<Statement>();
    statement->target = RandomAccess();
    statement->value = RandomValue();
    if (Below(3) == 0) statement->combine = Opcode::kAdd;
    return std::shared_ptr<const Statement>(std::move(statement));
  }

  Rng rng_;
  Program program_;
  std::vector<Var> vars_;
  std::vector<BufferId> locals_;
};

// One run of an access.
struct Instance {
  // The iterations of the loops above.
  std::vector<int64_t> iteration;
  // Elements that it may touch; more than one where data decide.
  std::set<int64_t> elements;
  // The instance of a buffer that its loop declares anew in each iteration.
  std::vector<int64_t> incarnation;
};

class Enumerator {
 public:
  explicit Enumerator(const Program& program)
      : program_(program), sites_(CollectAccesses(program, Path())) {
    Run(program.body(), Path());
  }

  const std::vector<AccessSite>& sites() const { return sites_; }
  const std::vector<Instance>& instances(size_t site) const {
    return instances_[site];
  }

 private:
  void Run(const std::vector<Node>& body, const Path& above) {
    Path path = above;
    path.push_back(0);
    for (const Node& node : body) {
      if (node.statement() != nullptr) {
        RunStatement(path);
      } else {
        RunLoop(*node.loop(), path);
      }
      ++path.back();
    }
  }

  void RunLoop(const Loop& loop, const Path& path) {
    int64_t end = loop.extent;
    if (loop.bound.has_value()) end = std::min(end, Value(*loop.bound));
    for (int64_t i = 0; i < end; ++i) {
      values_[loop.var] = i;
      iteration_.push_back(i);
      for (BufferId local : loop.locals) incarnations_[local] = iteration_;
      Run(loop.body, path);
      iteration_.pop_back();
    }
  }

  void RunStatement(const Path& path) {
    instances_.resize(sites_.size());
    for (size_t i = 0; i < sites_.size(); ++i) {
      if (sites_[i].path != path) continue;
      const bool runs =
          std::all_of(sites_[i].ranges.begin(), sites_[i].ranges.end(),
                      [this](const Range& range) {
                        const int64_t value = Value(range.value);
                        return range.lo <= value && value < range.hi;
                      });
      if (!runs) continue;
      instances_[i].push_back({iteration_, Elements(sites_[i].access),
                               incarnations_[sites_[i].access.buffer]});
    }
  }

  std::set<int64_t> Elements(const Access& access) const {
    const Buffer& buffer = program_.buffer(access.buffer);
    const bool flat =
        access.indices.size() == 1 && buffer.dimensions.size() != 1;
    std::set<int64_t> elements{0};
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const int64_t stride = flat ? 1 : buffer.strides[i];
      std::set<int64_t> next;
      for (int64_t element : elements) {
        if (access.indices[i].offset == nullptr) {
          next.insert(element + stride * Value(access.indices[i].affine));
          continue;
        }
        for (int64_t at = 0; at < buffer.dimensions[i]; ++at) {
          next.insert(element + stride * at);
        }
      }
      elements = std::move(next);
    }
    return elements;
  }

  int64_t Value(const Affine& affine) const {
    return affine.Evaluate([this](VarId var) { return values_.at(var); });
  }

  const Program& program_;
  const std::vector<AccessSite> sites_;
  std::vector<std::vector<Instance>> instances_;
  std::map<VarId, int64_t> values_;
  std::vector<int64_t> iteration_;
  std::map<BufferId, std::vector<int64_t>> incarnations_;
};

bool IsRelated(int64_t source, int64_t target, Direction direction) {
  switch (direction) {
    case Direction::kEarlier:
      return source < target;
    case Direction::kSame:
      return source == target;
    case Direction::kLater:
      return source > target;
    case Direction::kAny:
      break;
  }
  return true;
}

bool Meet(const Instance& a, const Instance& b) {
  return a.incarnation == b.incarnation &&
         std::any_of(a.elements.begin(), a.elements.end(),
                     [&](int64_t e) { return b.elements.contains(e); });
}

bool ConflictByTrying(const Enumerator& all, size_t source, size_t target,
                      const std::vector<Direction>& directions) {
  for (const Instance& a : all.instances(source)) {
    for (const Instance& b : all.instances(target)) {
      bool related = true;
      for (size_t i = 0; i < directions.size(); ++i) {
        related =
            related && IsRelated(a.iteration[i], b.iteration[i], directions[i]);
      }
      if (related && Meet(a, b)) return true;
    }
  }
  return false;
}

std::string Describe(const std::vector<Direction>& directions) {
  std::string text;
  for (Direction direction : directions) {
    text += "<=>*"[static_cast<size_t>(direction)];
  }
  return text;
}

TEST(MayConflict, AgreesWithTryingAllIterations) {
  int conflicts = 0;
  int questions = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const RandomAccesses random(seed);
    const Enumerator all(random.program());
    const std::vector<AccessSite>& sites = all.sites();
    Rng rng(seed);
    for (size_t i = 0; i < sites.size(); ++i) {
      for (size_t j = 0; j < sites.size(); ++j) {
        if (sites[i].access.buffer != sites[j].access.buffer) continue;
        std::vector<Direction> directions(CommonLoops(sites[i], sites[j]));
        for (int k = 0; k < 4; ++k) {
          for (Direction& d : directions) {
            d = static_cast<Direction>(rng.Below(4));
          }
          const bool expected = ConflictByTrying(all, i, j, directions);
          ASSERT_EQ(
              MayConflict(random.program(), sites[i], sites[j], directions),
              expected)
              << "seed " << seed << ", sites " << i << " and " << j << ", "
              << Describe(directions);
          ++questions;
          conflicts += static_cast<int>(expected);
        }
      }
    }
  }
  EXPECT_GT(questions, 10000);
  EXPECT_GT(conflicts, questions / 10);
  EXPECT_LT(conflicts, questions * 9 / 10);
}

bool CarriesByTrying(const Enumerator& all, const Path& path,
                     bool reorder_reductions) {
  const size_t depth = path.size() - 1;
  const auto is_below = [&](const AccessSite& site) {
    return site.path.size() > path.size() &&
           std::equal(path.begin(), path.end(), site.path.begin());
  };
  for (size_t i = 0; i < all.sites().size(); ++i) {
    for (size_t j = 0; j < all.sites().size(); ++j) {
      const AccessSite& a = all.sites()[i];
      const AccessSite& b = all.sites()[j];
      if (!is_below(a) || !is_below(b) || a.access.buffer != b.access.buffer ||
          !(a.is_write || b.is_write)) {
        continue;
      }
      if (reorder_reductions && a.combine.has_value() &&
          a.combine == b.combine) {
        continue;
      }
      std::vector<Direction> directions(depth, Direction::kSame);
      directions.push_back(Direction::kEarlier);
      if (ConflictByTrying(all, i, j, directions)) return true;
    }
  }
  return false;
}

TEST(CarriesDependence, AgreesWithTryingAllIterations) {
  int carried = 0;
  int loops = 0;
  for (uint64_t seed = 1000; seed < 1400; ++seed) {
    const RandomAccesses random(seed);
    const Enumerator all(random.program());
    VisitLoops(random.program(), Path(), [&](const Path& path, const Loop&) {
      for (bool reorder : {false, true}) {
        const bool expected = CarriesByTrying(all, path, reorder);
        EXPECT_EQ(CarriesDependence(random.program(), path,
                                    {.reorder_reductions = reorder}),
                  expected)
            << "seed " << seed << ", loop at depth " << path.size();
        ++loops;
        carried += static_cast<int>(expected);
      }
    });
  }
  EXPECT_GT(carried, loops / 10);
  EXPECT_LT(carried, loops * 9 / 10);
}

TEST(CollectAccesses, KeepsTheOrderAndTheRanges) {
  Program program;
  Buffer buffer;
  buffer.dimensions = {8};
  buffer.strides = {1};
  const BufferId x = program.AddBuffer(buffer);
  const BufferId y = program.AddBuffer(buffer);
  const VarId i = program.NewVar();
  const auto load = [](BufferId id, const Affine& at) {
    Access access;
    access.buffer = id;
    access.indices.resize(1);
    access.indices[0].affine = at;
    return Expression::Load(ElementType::kF32, std::move(access));
  };
  const Affine first = 0;
  const Affine place = Affine::Var(i);
  auto statement = std::make_shared<Statement>();
  statement->target.buffer = y;
  statement->target.indices.emplace_back(place);
  std::vector<Range> ranges(1);
  ranges[0].value = place;
  ranges[0].lo = 2;
  ranges[0].hi = 8;
  statement->value =
      Expression::Where(std::move(ranges), load(x, place), load(y, first));
  statement->combine = Opcode::kMaximum;
  auto loop = std::make_shared<Loop>();
  loop->var = i;
  loop->extent = 8;
  loop->body.emplace_back(
      std::shared_ptr<const Statement>(std::move(statement)));
  program.mutable_body().emplace_back(
      std::shared_ptr<const Loop>(std::move(loop)));

  const std::vector<AccessSite> sites = CollectAccesses(program, Path());
  ASSERT_EQ(sites.size(), 3);
  EXPECT_EQ(sites[0].access.buffer, x);
  ASSERT_EQ(sites[0].ranges.size(), 1);
  EXPECT_EQ(sites[0].ranges[0].lo, 2);
  EXPECT_EQ(sites[0].ranges[0].hi, 8);
  EXPECT_FALSE(sites[0].is_write);
  EXPECT_EQ(sites[1].access.buffer, y);
  EXPECT_TRUE(sites[1].ranges.empty());
  EXPECT_FALSE(sites[1].is_write);
  EXPECT_TRUE(sites[2].is_write);
  EXPECT_EQ(sites[2].combine, Opcode::kMaximum);
  EXPECT_EQ(sites[2].path, (Path{0, 0}));
}

}  // namespace
}  // namespace hone::loops

#include "loops/schedules/adjacent_steps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/loop_chain.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// The products per copied element for which copies of the operands pay off.
constexpr double kUsesWorthCopies = 16;

constexpr int64_t kBeforeNest = 2;  // Of pack.

// The loop over the input channels of a convolution.
struct Channels {
  Path loop;
  VarId var = 0;
  int64_t extent = 0;
  int64_t products = 1;  // that an instruction takes
  // True if channels are adjacent in neither operand.
  bool is_strided = false;
};

// Returns true if the loop moves one index of the access, and blocks of
// `products` channels can be told by it: it is that loop's variable, possibly
// plus multiples of `products`, such as the first channel of a group.
bool CountsChannels(const Access& access, const Loop& loop, int64_t products) {
  int used = 0;
  for (const Index& index : access.indices) {
    if (index.offset != nullptr) return false;
    if (!index.affine.Uses(loop.var)) continue;
    ++used;
    const Affine rest = index.affine - Affine::Var(loop.var);
    if (rest != Affine() &&
        (loop.extent % products != 0 || rest.constant() % products != 0 ||
         absl::c_any_of(rest.terms(), [&](const Affine::Term& term) {
           return term.coefficient % products != 0;
         }))) {
      return false;
    }
  }
  return used == 1;
}

// Returns true if an index of the access moves both with a sum and with the
// result, as that of an image does under a window.
bool IsImage(const Access& factor, const Contraction& c) {
  return absl::c_any_of(factor.indices, [&](const Index& index) {
    const auto moves = [&](VarId var) { return index.affine.Uses(var); };
    return absl::c_any_of(c.sums, moves) &&
           (absl::c_any_of(c.rows, moves) || absl::c_any_of(c.columns, moves));
  });
}

double ElementsOf(const Program& program, const Access& access) {
  return static_cast<double>(
      program.buffer(access.buffer).allocated_elements());
}

// Returns the channels of the convolution whose sum is the statement at `path`
// if an instruction may take several of them; nullopt for anything else.
std::optional<Channels> ChannelsOf(const Scheduler& s, const Path& path) {
  const Program& program = s.program();
  const std::optional<Contraction> c = AsContraction(program, path);
  if (!c.has_value() || c->sums.size() < 2 || c->rows.empty() ||
      c->columns.empty() || c->a->buffer == c->b->buffer ||
      !(IsImage(*c->a, *c) || IsImage(*c->b, *c))) {
    return std::nullopt;
  }
  Channels channels;
  channels.products = ProductsOfTypes(program, s.machine(), *c);
  if (channels.products == 1 ||
      program.At(path).statement()->value->kind() != Expression::Kind::kApply) {
    return std::nullopt;
  }
  const std::vector<const Loop*> loops = program.LoopsAbove(path);
  double products = 1;
  for (size_t depth = 0; depth < loops.size(); ++depth) {
    const Loop& loop = *loops[depth];
    products *= static_cast<double>(loop.extent);
    if (!absl::c_linear_search(c->sums, loop.var) ||
        !CountsChannels(*c->a, loop, channels.products) ||
        !CountsChannels(*c->b, loop, channels.products) ||
        loop.extent <= channels.extent) {
      continue;
    }
    channels.loop = Prefix(path, depth + 1);
    channels.var = loop.var;
    channels.extent = loop.extent;
  }
  if (channels.extent < channels.products ||
      products < kUsesWorthCopies * (ElementsOf(program, *c->a) +
                                     ElementsOf(program, *c->b))) {
    return std::nullopt;
  }
  channels.is_strided = StrideOf(program, *c->a, channels.var) != 1 &&
                        StrideOf(program, *c->b, channels.var) != 1;
  return channels;
}

// Returns the paths of the sums that have channels.
std::vector<Path> SumsOverChannels(const Scheduler& s) {
  std::vector<Path> paths;
  VisitStatements(s.program(), {}, [&](const Path& path, const Statement&) {
    if (ChannelsOf(s, path).has_value()) paths.push_back(path);
  });
  return paths;
}

// Returns the path of the statement that `path` was before other nests came in
// front of it.
Path Behind(Path path, size_t nests) {
  path[0] += static_cast<int32_t>(nests);
  return path;
}

// The loops over blocks of channels, and over the channels of a block.
struct Block {
  VarId blocks = 0;
  VarId channel = 0;
  int64_t channels = 1;
};

// Lays the copy of the image out in blocks of channels; makes the copy if there
// is none. `sum` is the path of the statement, which moves behind the copy.
bool BlockImage(Scheduler& s, Path& sum, const Block& block) {
  const auto image = [&]() -> Access {
    const Contraction c = *AsContraction(s.program(), sum);
    return IsImage(*c.a, c) ? *c.a : *c.b;
  };
  const size_t nests = s.program().body().size();
  if (!s.program().buffer(image().buffer).IsLocal()) {
    if (!s.Try("pack", {}, {image().buffer, 0})) return false;
    sum = Behind(sum, s.program().body().size() - nests);
  }
  const Access access = image();
  const auto index = absl::c_find_if(access.indices, [&](const Index& i) {
    return i.affine.Uses(block.blocks) || i.affine.Uses(block.channel);
  });
  if (index == access.indices.end()) return false;
  const int64_t dimension = index - access.indices.begin();
  // The loops over channels of what else accesses it: of what writes the copy,
  // and of other sums, such as those of other phases of a dilated image.
  std::vector<Path> loops;
  for (const AccessSite& site : SitesOf(s.program(), {}, access.buffer)) {
    const Affine& at =
        site.access.indices[static_cast<size_t>(dimension)].affine;
    const std::vector<const Loop*> above = s.program().LoopsAbove(site.path);
    for (size_t depth = 0; depth < above.size(); ++depth) {
      const Path loop = Prefix(site.path, depth + 1);
      if (at.coefficient(above[depth]->var) == 1 &&
          above[depth]->extent > block.channels &&
          !absl::c_linear_search(loops, loop)) {
        loops.push_back(loop);
      }
    }
  }
  for (const Path& loop : loops) {
    if (!s.Try("split", loop, {block.channels})) return false;
  }
  return s.Try("block_layout", {}, {access.buffer, dimension, block.channels});
}

bool BlockSum(Scheduler& s, Path sum) {
  const Channels channels = *ChannelsOf(s, sum);
  Block block = {channels.var, channels.var, channels.products};
  if (channels.extent > channels.products) {
    if (!s.Try("split", channels.loop, {channels.products})) return false;
    const Loop& outer = *s.program().At(channels.loop).loop();
    block.blocks = outer.var;
    block.channel = OnlyChildLoop(outer)->var;
    sum.push_back(0);
  }
  return BlockImage(s, sum, block);
}

}  // namespace

void PadChannels(Scheduler& s) {
  for (const Path& sum : SumsOverChannels(s)) {
    const Channels channels = *ChannelsOf(s, sum);
    if (channels.extent % channels.products != 0) {
      s.Try("pad_sum", channels.loop, {channels.products});
    }
  }
}

void BlockChannels(Scheduler& s) {
  // Sums of one image change together, and with them their paths.
  size_t refused = 0;
  for (size_t left = SumsOverChannels(s).size(); left > 0; --left) {
    std::vector<Path> sums = SumsOverChannels(s);
    std::erase_if(sums, [&](const Path& sum) {
      const Channels channels = *ChannelsOf(s, sum);
      return !channels.is_strided || channels.extent % channels.products != 0;
    });
    if (refused >= sums.size()) return;
    const Scheduler::Checkpoint mark = s.Save();
    if (BlockSum(s, sums[refused])) continue;
    s.Restore(mark);
    ++refused;
  }
}

std::optional<VarId> AdjacentSteps(const Program& program,
                                   const Machine& machine,
                                   const Contraction& c) {
  const int64_t products = ProductsAtOnce(program, machine, c);
  if (products == 1 || c.sums.size() < 2 || c.rows.empty() ||
      c.columns.empty()) {
    return std::nullopt;
  }
  for (const Loop* loop : program.LoopsAbove(c.path)) {
    if (loop->extent == products && absl::c_linear_search(c.sums, loop->var) &&
        (StrideOf(program, *c.a, loop->var) == 1 ||
         StrideOf(program, *c.b, loop->var) == 1)) {
      return loop->var;
    }
  }
  return std::nullopt;
}

bool PackAdjacentSteps(Scheduler& s, const Path& nest, const Contraction& c,
                       const Access& factor, VarId step) {
  const auto at = absl::c_find_if(factor.indices, [&](const Index& index) {
    return index.affine.Uses(step);
  });
  if (at == factor.indices.end()) return false;
  // The dimensions of the copy, one for each loop: of groups, blocks of
  // channels, the window, features and the channels of a block.
  std::array<std::vector<int64_t>, 5> dimensions;
  int64_t count = 0;
  for (const Loop* loop : s.program().LoopsAbove(c.path)) {
    if (StrideOf(s.program(), factor, loop->var) == 0) continue;
    const auto is_in = [&](const std::vector<VarId>& vars) {
      return absl::c_linear_search(vars, loop->var);
    };
    const size_t kind = loop->var == step                   ? 4
                        : is_in(c.rows) || is_in(c.columns) ? 3
                        : !is_in(c.sums)                    ? 0
                        : at->affine.Uses(loop->var)        ? 1
                                                            : 2;
    dimensions[kind].push_back(count++);
  }
  std::vector<int64_t> order = {factor.buffer, kBeforeNest};
  for (const std::vector<int64_t>& kind : dimensions) {
    order.insert(order.end(), kind.begin(), kind.end());
  }
  return s.Try("pack", nest, std::move(order));
}

}  // namespace hone::loops

#include "backends/cpu/in_place.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "loops/analysis/dependences.h"

namespace hone::backends {
namespace {

using loops::AccessSite;
using loops::BufferId;
using loops::Direction;
using loops::Memory;
using loops::Program;

std::optional<BufferId> FindBuffer(const Program& program, Memory memory,
                                   int32_t number) {
  for (size_t i = 0; i < program.buffers().size(); ++i) {
    const loops::Buffer& buffer = *program.buffers()[i];
    if (buffer.memory == memory && buffer.number == number) {
      return static_cast<BufferId>(i);
    }
  }
  return std::nullopt;
}

// Returns true if the two may touch one element in different iterations of the
// loops around both.
bool ConflictInOtherIterations(const Program& program, const AccessSite& a,
                               const AccessSite& b) {
  const size_t loops = loops::CommonLoops(a, b);
  for (size_t level = 0; level < loops; ++level) {
    for (Direction direction : {Direction::kEarlier, Direction::kLater}) {
      std::vector<Direction> directions(loops, Direction::kAny);
      std::fill_n(directions.begin(), level, Direction::kSame);
      directions[level] = direction;
      if (MayConflict(program, a, b, directions)) return true;
    }
  }
  return false;
}

bool InOneStatementOnly(const Program& program, const AccessSite& read,
                        const AccessSite& write) {
  if (read.path == write.path) {
    return !ConflictInOtherIterations(program, read, write);
  }
  const std::vector<Direction> any(loops::CommonLoops(read, write),
                                   Direction::kAny);
  return !MayConflict(program, read, write, any);
}

}  // namespace

InPlaceAnalysis::InPlaceAnalysis(const Program& program)
    : program_(program),
      reads_(program.buffers().size()),
      writes_(program.buffers().size()) {
  for (AccessSite& site : CollectAccesses(program, {})) {
    const auto buffer = static_cast<size_t>(site.access.buffer);
    (site.is_write ? writes_ : reads_)[buffer].push_back(std::move(site));
  }
}

bool InPlaceAnalysis::MayRunInPlace(int32_t argument, int32_t result) const {
  const auto from = FindBuffer(program_, Memory::kArgument, argument);
  const auto to = FindBuffer(program_, Memory::kResult, result);
  if (!from.has_value() || !to.has_value()) return false;
  const loops::Buffer& source = program_.buffer(*from);
  const loops::Buffer& target = program_.buffer(*to);
  if (source.type != target.type || source.dimensions != target.dimensions) {
    return false;
  }
  for (AccessSite read : reads_[static_cast<size_t>(*from)]) {
    read.access.buffer = *to;
    // Reads of the result see what was written in either case.
    for (const AccessSite& write : writes_[static_cast<size_t>(*to)]) {
      if (!InOneStatementOnly(program_, read, write)) return false;
    }
  }
  return true;
}

}  // namespace hone::backends

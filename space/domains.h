#ifndef HONE_SPACE_DOMAINS_H_
#define HONE_SPACE_DOMAINS_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace hone::space {

// The largest number of values of a variable.
inline constexpr int32_t kMaxValues = 64;

// Returns the set of values 0 … `size`-1. 1 ≤ size ≤ kMaxValues.
inline uint64_t AllValues(int32_t size) {
  return ~uint64_t{0} >> (kMaxValues - size);
}

// The values left to each variable of an assignment problem under its
// constraints, while an assignment is being built. A set of values is a word
// with bit v for value v.
//
// A conflict that propagation misses may show late; a complete assignment that
// survives satisfies the constraints that Narrow knows.
// Threads: not thread-safe.
class Domains {
 public:
  virtual ~Domains() = default;

  virtual int32_t variable_count() const = 0;
  // Never empty.
  virtual uint64_t Get(int32_t variable) const = 0;
  // Intersects the values of `variable` with `values` and propagates the
  // constraints. Returns false if nothing is left to some variable; the domains
  // are then fit for Undo only.
  [[nodiscard]] virtual bool Narrow(int32_t variable, uint64_t values) = 0;

  // A point to return to. Undo takes back all that happened since and forgets
  // the later marks.
  virtual int32_t Mark() = 0;
  virtual void Undo(int32_t mark) = 0;
};

// Returns the domains of variables without constraints, of these sizes.
std::unique_ptr<Domains> MakeFreeDomains(std::vector<int32_t> sizes);

}  // namespace hone::space

#endif  // HONE_SPACE_DOMAINS_H_

#ifndef HONE_BASE_REGISTRY_H_
#define HONE_BASE_REGISTRY_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include "base/check.h"

namespace hone {

// The plug-ins of one kind by their stable ids. `Entry` has a field `id`, an
// absl::string_view with static storage, and any others.
//
// Threads: const methods are thread-safe.
template <typename Entry>
class Registry {
 public:
  // `kind` names a plug-in in messages: "pass". Ids are unique.
  Registry(absl::string_view kind, std::vector<Entry> entries)
      : kind_(kind), entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end(), IdLess);
    for (size_t i = 1; i < entries_.size(); ++i) {
      HONE_CHECK(IdLess(entries_[i - 1], entries_[i]));
    }
  }

  // The entries, sorted by id.
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  const Entry& operator[](size_t i) const { return entries_[i]; }

  // The ids, sorted.
  std::vector<absl::string_view> ids() const {
    std::vector<absl::string_view> ids;
    ids.reserve(entries_.size());
    for (const Entry& entry : entries_) ids.push_back(entry.id);
    return ids;
  }

  // Returns the entry of that id, which lives as long as the registry.
  // Errors: NotFound, listing the known ids.
  absl::StatusOr<const Entry*> Find(absl::string_view id) const {
    const auto it =
        std::lower_bound(entries_.begin(), entries_.end(), id,
                         [](const Entry& entry, absl::string_view key) {
                           return absl::string_view(entry.id) < key;
                         });
    if (it != entries_.end() && it->id == id) return &*it;
    return absl::NotFoundError(
        absl::StrCat("unknown ", kind_, " '", id,
                     "', expected one of: ", absl::StrJoin(ids(), ", ")));
  }

 private:
  static bool IdLess(const Entry& a, const Entry& b) {
    return absl::string_view(a.id) < absl::string_view(b.id);
  }

  const std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace hone

#endif  // HONE_BASE_REGISTRY_H_

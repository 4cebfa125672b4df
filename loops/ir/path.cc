#include "loops/ir/path.h"

#include "absl/strings/str_join.h"

#include "base/check.h"

namespace hone::loops {

std::string PathText(const Path& path) {
  return path.empty() ? "-" : absl::StrJoin(path, ".");
}

Path Sibling(Path path, int32_t offset) {
  path.back() += offset;
  return path;
}

Path Child(Path path, int32_t number) {
  path.push_back(number);
  return path;
}

Path Parent(const Path& path) { return Path(path.begin(), path.end() - 1); }

Path Prefix(const Path& path, size_t length) {
  HONE_CHECK(length <= path.size());
  return Path(path.begin(), path.begin() + static_cast<ptrdiff_t>(length));
}

size_t CommonLength(const Path& a, const Path& b) {
  size_t length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length]) {
    ++length;
  }
  return length;
}

bool IsAtOrBelow(const Path& path, const Path& above) {
  return CommonLength(path, above) == above.size();
}

}  // namespace hone::loops

#ifndef HONE_BASE_TEMPORARY_DIRECTORY_H_
#define HONE_BASE_TEMPORARY_DIRECTORY_H_

#include <string>

namespace hone {

// A new empty directory in the system's folder for temporary files. It is
// removed with its content at the end of its life. If it cannot be created,
// path() does not exist, and whoever uses it first reports that.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hone

#endif  // HONE_BASE_TEMPORARY_DIRECTORY_H_

#ifndef HONE_BENCH_COST_MODEL_DATA_FILE_H_
#define HONE_BENCH_COST_MODEL_DATA_FILE_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::bench {

// A file of lines that grows by whole lines, so that an interrupted run loses
// none but the one that it was making.
class DataFile {
 public:
  // Opens a file, or makes one, of lines that begin with `line_begin`. What an
  // interrupted run left of a line at the end is cut off, and a whole line that
  // only lacks its end gets it. Read first whether it is a file of such lines
  // (HasLines). Errors: InvalidArgument if it cannot be written, is no regular
  // file, or ends in something else; FailedPrecondition while another process
  // writes it.
  static absl::StatusOr<DataFile> Open(const std::string& path,
                                       absl::string_view line_begin);

  DataFile(DataFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile();

  // Appends a line, given without its end, or several. All of it or nothing,
  // unless the process is killed meanwhile.
  absl::Status Add(std::string line);

 private:
  DataFile(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
};

// Returns true if there is a file of that path with at least a byte.
bool HasLines(const std::string& path);

// Calls `use` for each line of a file, in order, with "FILE:LINE". What an
// interrupted run left of one at the end is ignored. Errors: NotFound if
// the file cannot be read: "PATH: cannot be read, expected EXPECTED";
// InvalidArgument if it is no regular one; those of `use`.
absl::Status ReadDataFile(
    const std::string& path, absl::string_view expected,
    const std::function<absl::Status(absl::string_view line,
                                     absl::string_view where)>& use);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_DATA_FILE_H_

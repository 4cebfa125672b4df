#include "bench/cost_model/data_file.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "base/status_macros.h"

namespace hone::bench {
namespace {

absl::Status SystemError(const std::string& path, absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be ", what));
}

// Devices and pipes may have no end.
bool IsStrange(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) &&
         !std::filesystem::is_regular_file(path, error) &&
         !std::filesystem::is_directory(path, error);
}

// What a file ends in.
struct Ending {
  int64_t whole_bytes = 0;  // of lines that are whole
  bool lacks_end = false;   // of the last of them
};

// Errors: InvalidArgument if what follows the lines with ends is no line that
// begins with `line_begin`, whole or broken off.
absl::StatusOr<Ending> EndingOf(const std::string& path,
                                absl::string_view line_begin) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return SystemError(path, "read");
  const size_t last = bytes.rfind('\n');
  const size_t end = last == std::string::npos ? 0 : last + 1;
  const absl::string_view rest = absl::string_view(bytes).substr(end);
  if (rest.empty()) return Ending{static_cast<int64_t>(end), false};
  // Anything else is someone's.
  if (!absl::StartsWith(rest, line_begin) &&
      !absl::StartsWith(line_begin, rest)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": ends in what is no line of data, expected a data "
                     "file, or a new one"));
  }
  if (nlohmann::json::accept(rest.begin(), rest.end())) {
    return Ending{static_cast<int64_t>(bytes.size()), true};
  }
  return Ending{static_cast<int64_t>(end), false};
}

}  // namespace

absl::StatusOr<DataFile> DataFile::Open(const std::string& path,
                                        absl::string_view line_begin) {
  if (IsStrange(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": is no regular file, expected a data file, or a "
                     "new one"));
  }
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(path, "written");
  DataFile lines(path, file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is being written by another process"));
  }
  // Under the lock: another writer may have added lines until now.
  HONE_ASSIGN_OR_RETURN(const Ending ending, EndingOf(path, line_begin));
  if (ending.lacks_end) {
    HONE_RETURN_IF_ERROR(lines.Add(""));
  } else if (ftruncate(file, ending.whole_bytes) != 0) {
    return SystemError(path, "cut");
  }
  return lines;
}

DataFile::~DataFile() {
  if (file_ >= 0) close(file_);
}

absl::Status DataFile::Add(std::string line) {
  line.push_back('\n');
  const off_t before = lseek(file_, 0, SEEK_END);
  absl::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const absl::Status error = SystemError(path_, "written");
      // All of it or nothing; where that fails, too, the error says enough.
      (void)!ftruncate(file_, before);
      return error;
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

bool HasLines(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return !error && bytes > 0;
}

absl::Status ReadDataFile(
    const std::string& path, absl::string_view expected,
    const std::function<absl::Status(absl::string_view line,
                                     absl::string_view where)>& use) {
  if (IsStrange(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no regular file, expected ", expected));
  }
  std::error_code error;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be read, expected ", expected));
  }
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    // What an interrupted run left, unless only its end is missing.
    if (file.eof() && !nlohmann::json::accept(line)) break;
    HONE_RETURN_IF_ERROR(use(line, absl::StrCat(path, ":", number)));
  }
  if (file.bad()) {
    return absl::DataLossError(
        absl::StrCat(path, ": cannot be read to its end"));
  }
  return absl::OkStatus();
}

}  // namespace hone::bench

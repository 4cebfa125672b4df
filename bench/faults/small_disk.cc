#include "bench/faults/small_disk.h"

#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/status_macros.h"

namespace hone::bench {
absl::StatusOr<std::unique_ptr<SmallDisk>> SmallDisk::Create(int64_t bytes) {
  auto disk = std::unique_ptr<SmallDisk>(new SmallDisk);
  disk->has_user_namespace_ = geteuid() != 0;
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0) {
    return absl::UnavailableError("cannot make a pipe");
  }
  disk->input_ = input[1];
  const absl::Cleanup close_input = [&] { close(input[0]); };
  if (pipe2(output, O_CLOEXEC) != 0) {
    return absl::UnavailableError("cannot make a pipe");
  }
  absl::Cleanup close_output = [&] { close(output[1]); };
  const absl::Cleanup close_answer = [&] { close(output[0]); };
  ChildProcessOptions options;
  options.program = "unshare";
  options.arguments = {"--mount"};
  if (disk->has_user_namespace_) options.arguments.push_back("--map-root-user");
  for (const std::string& argument :
       {std::string("/bin/sh"), std::string("-c"),
        std::string("exec 2>/dev/null; mount -t tmpfs -o size=\"$1\" hone "
                    "\"$0\" && echo mounted && exec cat"),
        disk->path(), absl::StrCat(bytes)}) {
    options.arguments.push_back(argument);
  }
  options.input = input[0];
  options.output = output[1];
  HONE_ASSIGN_OR_RETURN(disk->holder_, StartChildProcess(options));
  std::move(close_output).Invoke();
  char answer = 0;
  ssize_t size = 0;
  while ((size = read(output[0], &answer, 1)) < 0 && errno == EINTR) {
  }
  if (size != 1) return absl::UnavailableError("cannot mount a filesystem");
  return disk;
}

SmallDisk::~SmallDisk() {
  if (input_ >= 0) close(input_);
  if (holder_ < 0) return;
  while (waitpid(holder_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<std::string> SmallDisk::wrapper() const {
  std::vector<std::string> arguments = {"nsenter", "--mount", "--target",
                                        absl::StrCat(holder_)};
  if (has_user_namespace_) {
    arguments.emplace_back("--user");
    arguments.emplace_back("--preserve-credentials");
  }
  return arguments;
}

std::string SmallDisk::FolderSeenFromHere() const {
  return absl::StrCat("/proc/", holder_, "/root", path());
}

absl::Status SmallDisk::Fill(int64_t bytes) {
  const std::string path = FolderSeenFromHere() + "/ballast";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return absl::InternalError(absl::StrCat("no '", path, "'"));
  const absl::Cleanup closer = [fd] { close(fd); };
  int error = ENOSPC;
  // The daemon may take space between the two calls, and the filesystem needs
  // some for itself: each time a page more is left.
  constexpr int64_t kPage = 4096;
  for (int64_t left = bytes; error == ENOSPC; left += kPage) {
    struct statvfs filesystem {};
    if (fstatvfs(fd, &filesystem) != 0) break;
    const auto free =
        static_cast<int64_t>(filesystem.f_bavail * filesystem.f_frsize);
    error = free > left ? posix_fallocate(fd, 0, free - left) : 0;
  }
  if (error == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot fill '", path, "'"));
}

void SmallDisk::Free() { unlink((FolderSeenFromHere() + "/ballast").c_str()); }

}  // namespace hone::bench

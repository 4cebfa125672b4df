#include "base/files.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone {
namespace {

using ::hone::testing::StatusIs;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(WriteFileAtomically, WritesEveryByte) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const std::string bytes("a\0b\r\n\xff", 6);
  HONE_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_EQ(Content(path), bytes);
  EXPECT_THAT(NamesIn(directory.path()), UnorderedElementsAre("file"));
}

TEST(WriteFileAtomically, ReplacesALongerFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  HONE_ASSERT_OK(WriteFileAtomically(path, std::string(100'000, 'x')));
  // Who has it open keeps on reading the old one.
  std::ifstream reader(path, std::ios::binary);
  HONE_ASSERT_OK(WriteFileAtomically(path, "short"));
  EXPECT_EQ(Content(path), "short");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}).size(),
            100'000u);
  HONE_ASSERT_OK(WriteFileAtomically(path, ""));
  EXPECT_EQ(Content(path), "");
  EXPECT_THAT(NamesIn(directory.path()), UnorderedElementsAre("file"));
}

TEST(WriteFileAtomically, GivesThePermissionsOfANewFile) {
  const TemporaryDirectory directory;
  const std::string plain = directory.path() + "/plain";
  const std::string path = directory.path() + "/file";
  std::ofstream(plain) << "x";
  HONE_ASSERT_OK(WriteFileAtomically(path, "x"));
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::status(plain).permissions());
}

TEST(WriteFileAtomically, NamesThePathInAFolderThatDoesNotExist) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/none/file";
  EXPECT_THAT(WriteFileAtomically(path, "x"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ": cannot be written: No such file or "
                              "directory"));
  EXPECT_THAT(NamesIn(directory.path()), IsEmpty());
}

TEST(WriteFileAtomically, LeavesNothingBehindWhereItCannotReplace) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/folder";
  ASSERT_TRUE(std::filesystem::create_directory(path));
  EXPECT_THAT(WriteFileAtomically(path, "x"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ": cannot be written: Is a directory"));
  EXPECT_THAT(NamesIn(directory.path()), UnorderedElementsAre("folder"));
}

TEST(WriteFileAtomically, ReplacesTheFileBehindALink) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/file";
  const std::string link = directory.path() + "/link";
  std::ofstream(file) << "old";
  std::filesystem::create_symlink("file", link);
  HONE_ASSERT_OK(WriteFileAtomically(link, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Content(file), "new");
  EXPECT_THAT(NamesIn(directory.path()), UnorderedElementsAre("file", "link"));
}

// A pipe stands for any device; this one is the test's own.
TEST(WriteFileAtomically, WritesToAPipe) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int end = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(end, 0);
  HONE_ASSERT_OK(WriteFileAtomically(path, "bytes"));
  char bytes[6] = {};
  EXPECT_EQ(read(end, bytes, sizeof(bytes)), 5);
  close(end);
  EXPECT_STREQ(bytes, "bytes");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(WriteFileAtomically, FullDevicesAreNoFaultOfTheCaller) {
  EXPECT_THAT(
      WriteFileAtomically("/dev/full", "x"),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "/dev/full: cannot be written: No space left on device"));
}

// A limit on the size of files stands in for a full disk.
TEST(WriteFileAtomically, KeepsTheOldFileWhereTheNewOneDoesNotFit) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  HONE_ASSERT_OK(WriteFileAtomically(path, "old"));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status large = WriteFileAtomically(path, std::string(9000, 'x'));
  // Less than a buffer: fails when it is closed.
  small.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status buffered = WriteFileAtomically(path, "x");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  for (const absl::Status& status : {large, buffered}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                                 path + ": cannot be written: File too large"));
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_THAT(NamesIn(directory.path()), UnorderedElementsAre("file"));
}

}  // namespace
}  // namespace hone

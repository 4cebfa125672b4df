#ifndef HONE_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
#define HONE_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_

#include <filesystem>
#include <string>
#include <system_error>

#include "gtest/gtest.h"
#include <stdlib.h>

namespace hone::testing {

// A new empty directory that goes away with its content.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(::testing::TempDir() + "/hone.XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_

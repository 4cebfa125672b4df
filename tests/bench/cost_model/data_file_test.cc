#include "bench/cost_model/data_file.h"

#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::string_view kBegin = R"({"a":)";

class DataFileTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/data.jsonl"; }
  void Write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    HONE_EXPECT_OK(ReadDataFile(
        path(), "data", [&](absl::string_view line, absl::string_view where) {
          EXPECT_EQ(where, path() + ":" + std::to_string(lines.size() + 1));
          lines.emplace_back(line);
          return absl::OkStatus();
        }));
    return lines;
  }

  const TemporaryDirectory folder_;
};

TEST_F(DataFileTest, GrowsByLines) {
  EXPECT_FALSE(HasLines(path()));
  for (const char* const line : {R"({"a":1})", R"({"a":2})"}) {
    auto file = DataFile::Open(path(), kBegin);
    HONE_ASSERT_OK(file.status());
    HONE_EXPECT_OK(file->Add(line));
  }
  EXPECT_TRUE(HasLines(path()));
  EXPECT_THAT(Lines(), ElementsAre(R"({"a":1})", R"({"a":2})"));
}

TEST_F(DataFileTest, WhatAnInterruptedRunLeftIsCutOff) {
  for (const char* const broken : {"{", "{\"a\"", "{\"a\":\"half"}) {
    Write(std::string("{\"a\":1}\n") + broken);
    EXPECT_THAT(Lines(), ElementsAre("{\"a\":1}"));
    auto file = DataFile::Open(path(), kBegin);
    HONE_ASSERT_OK(file.status());
    HONE_EXPECT_OK(file->Add("{\"a\":2}"));
    EXPECT_THAT(Lines(), ElementsAre("{\"a\":1}", "{\"a\":2}"));
  }
}

TEST_F(DataFileTest, AnotherFileIsNotCut) {
  for (const char* const note :
       {"a note without an end", "{\"results\": [1, 2]}", "{ a note in braces",
        "{\"b\":\"half"}) {
    Write(note);
    EXPECT_THAT(DataFile::Open(path(), kBegin).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("no line of data")));
    std::ifstream file(path());
    std::string left;
    std::getline(file, left);
    EXPECT_EQ(left, note);
  }
}

TEST_F(DataFileTest, ALineThatOnlyLacksItsEndIsRead) {
  Write("{\"a\":1}\n{\"a\":2}");
  EXPECT_THAT(Lines(), ElementsAre("{\"a\":1}", "{\"a\":2}"));
  // And goes on after it.
  auto file = DataFile::Open(path(), kBegin);
  HONE_ASSERT_OK(file.status());
  HONE_EXPECT_OK(file->Add("{\"a\":3}"));
  EXPECT_THAT(Lines(), ElementsAre("{\"a\":1}", "{\"a\":2}", "{\"a\":3}"));
}

TEST_F(DataFileTest, DevicesAreNoDataFiles) {
  EXPECT_THAT(DataFile::Open("/dev/full", kBegin).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("/dev/full: is no regular file")));
  EXPECT_THAT(ReadDataFile("/dev/zero", "data", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("is no regular file, expected data")));
}

TEST_F(DataFileTest, HasOneWriter) {
  const auto first = DataFile::Open(path(), kBegin);
  HONE_ASSERT_OK(first.status());
  EXPECT_THAT(DataFile::Open(path(), kBegin).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is being written by another process")));
}

TEST_F(DataFileTest, ErrorsOfReadingEndIt) {
  EXPECT_THAT(ReadDataFile(path(), "a data file", nullptr),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("cannot be read, expected a data file")));
  EXPECT_THAT(ReadDataFile(folder_.path(), "a data file", nullptr),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("cannot be read, expected a data file")));
  Write("{1}\n{2}\n");
  int calls = 0;
  EXPECT_THAT(ReadDataFile(path(), "data",
                           [&](absl::string_view, absl::string_view) {
                             ++calls;
                             return absl::InvalidArgumentError("bad");
                           }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bad")));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hone::bench

#ifndef HONE_BENCH_COST_MODEL_MEMBER_READER_H_
#define HONE_BENCH_COST_MODEL_MEMBER_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

// Reads the members of JSON objects; remembers the first error,
// InvalidArgument: "WHERE: 'KEY' is missing, expected EXPECTED".
class MemberReader {
 public:
  MemberReader(absl::string_view where, absl::string_view expected)
      : where_(where), expected_(expected) {}

  const absl::Status& status() const { return status_; }

  const nlohmann::ordered_json& Member(const nlohmann::ordered_json& object,
                                       const char* key) {
    static const nlohmann::ordered_json kNothing;
    if (object.is_object()) {
      const auto it = object.find(key);
      if (it != object.end()) return *it;
    }
    Fail(key, "is missing");
    return kNothing;
  }
  std::string Text(const nlohmann::ordered_json& object, const char* key) {
    const nlohmann::ordered_json& value = Member(object, key);
    if (value.is_string()) return value.get<std::string>();
    Fail(key, "is no text");
    return "";
  }
  bool Flag(const nlohmann::ordered_json& object, const char* key) {
    const nlohmann::ordered_json& value = Member(object, key);
    if (value.is_boolean()) return value.get<bool>();
    Fail(key, "is neither true nor false");
    return false;
  }
  // A number from `least`, which is at least 0, to `most`.
  double Number(const nlohmann::ordered_json& object, const char* key,
                double least = 0, double most = 1e18) {
    const nlohmann::ordered_json& value = Member(object, key);
    if (value.is_number()) {
      const auto number = value.get<double>();
      if (number >= least && number <= most) return number;
    }
    Fail(key, absl::StrCat("is no number from ", least, " to ", most));
    return least;
  }
  int64_t Count(const nlohmann::ordered_json& object, const char* key,
                int64_t most, int64_t least = 0) {
    const nlohmann::ordered_json& value = Member(object, key);
    if (value.is_number_integer()) {
      const auto count = value.get<int64_t>();
      if (count >= least && count <= most) return count;
    }
    Fail(key, absl::StrCat("is no whole number from ", least, " to ", most));
    return least;
  }
  const nlohmann::ordered_json& List(const nlohmann::ordered_json& object,
                                     const char* key) {
    static const nlohmann::ordered_json kEmpty =
        nlohmann::ordered_json::array();
    const nlohmann::ordered_json& value = Member(object, key);
    if (value.is_array()) return value;
    Fail(key, "is no list");
    return kEmpty;
  }

  void Fail(absl::string_view key, absl::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(where_, ": '", key, "' ", what, ", expected ", expected_));
  }

 private:
  const absl::string_view where_;
  const absl::string_view expected_;
  absl::Status status_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_MEMBER_READER_H_

#ifndef HONE_GRAPHS_TOML_TABLES_H_
#define HONE_GRAPHS_TOML_TABLES_H_

#include <string>
#include <vector>

// Debian's library of the same name is built with exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <toml++/toml.h>

namespace hone::graphs {

// A key of a table whose value is a number, with what it may be and where it
// goes.
struct NumberKey {
  absl::string_view name;
  double min = 0;
  double max = 0;
  double* value = nullptr;
  bool is_integer = false;
  bool is_optional = false;
};

NumberKey IntegerKey(absl::string_view name, double min, double max,
                     double& value);
// Rates of at least 1 keep all times finite.
NumberKey RateKey(absl::string_view name, double& value);
// At most an hour.
NumberKey SecondsKey(absl::string_view name, double& value);

// A short description of hardware in TOML. Errors have the form
// "FILE:LINE:COLUMN: which key, expected what".
class TomlTables {
 public:
  // `what` is described, for messages: "a cluster".
  // Errors: InvalidArgument for text that is not TOML or longer than 8 KiB.
  static absl::StatusOr<TomlTables> Parse(absl::string_view text,
                                          absl::string_view file,
                                          absl::string_view what);

  const toml::table& root() const { return root_; }

  absl::Status ErrorAt(const toml::source_region& where,
                       absl::string_view message) const;

  // Reads the keys of the table `node`, called `name`, which has no others but
  // for `other`.
  absl::Status ReadTable(absl::string_view name, const toml::node& node,
                         const std::vector<NumberKey>& keys,
                         absl::string_view other = "") const;

 private:
  TomlTables() = default;

  std::string file_;
  toml::table root_;
};

// toml++ has the standard library's views.
inline absl::string_view TomlView(std::string_view text) {
  return {text.data(), text.size()};
}

// Returns a number in as few digits as say which it is.
std::string TomlNumber(double value);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_TOML_TABLES_H_

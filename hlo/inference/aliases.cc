#include "hlo/inference/aliases.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/inference/internal.h"
#include "hlo/inference/value_reader.h"

namespace hone::hlo::inference {
namespace {

// Returns the part of a shape at an index; null where there is none.
const Shape* PartAt(const Shape& shape, absl::Span<const int64_t> index) {
  const Shape* part = &shape;
  for (int64_t i : index) {
    const auto count = static_cast<int64_t>(part->tuple_elements().size());
    if (i < 0 || i >= count) return nullptr;
    part = part->tuple_element(i).get();
  }
  return part;
}

// Returns false if the two differ in size on every backend. Tiled layouts pad,
// dynamic arrays carry their sizes, and types below a byte may be packed, so
// the size of these is not known here.
bool MaySizesAgree(const Shape& a, const Shape& b) {
  const auto known = [](const Shape& shape) {
    return !shape.is_dynamic() && BitWidth(shape.element_type()) >= 8 &&
           (shape.layout() == nullptr || shape.layout()->suffix.empty());
  };
  return a.byte_size() == b.byte_size() || !known(a) || !known(b);
}

// Checks the buffers of the entry computation that header attributes name.
class AliasVerifier {
 public:
  explicit AliasVerifier(const Module& module)
      : entry_(module.entry_computation()) {}

  // Checks `{ {0}: (1, {}, may-alias), … }`.
  absl::Status VerifyAlias(absl::string_view text) {
    return VerifyEach(text, [this] { return VerifyAliasEntry(); });
  }
  // Checks `{ (1, {}), … }`. Call it after VerifyAlias.
  absl::Status VerifyDonors(absl::string_view text) {
    return VerifyEach(text, [this] { return VerifyDonorEntry(); });
  }

 private:
  template <typename VerifyEntry>
  absl::Status VerifyEach(absl::string_view text, VerifyEntry verify_entry) {
    reader_ = ValueReader(text);
    if (!reader_.Take("{")) return Unexpected("{");
    while (!reader_.Take("}")) {
      HONE_RETURN_IF_ERROR(verify_entry());
      if (reader_.Take(",")) continue;
      if (!reader_.Take("}")) return Unexpected(", or }");
      break;
    }
    return reader_.AtEnd() ? absl::OkStatus() : Unexpected("its end");
  }

  absl::Status VerifyAliasEntry() {
    std::vector<int64_t> index;
    if (!reader_.Index(index) || !reader_.Take(":")) {
      return Unexpected("{index of an output}:");
    }
    const Shape& result = entry_[entry_.root()].shape();
    const Shape* output = PartAt(result, index);
    const std::string name =
        absl::StrCat("output {", Excerpt(absl::StrJoin(index, ",")), "}");
    if (output == nullptr || !output->IsArray()) {
      return Invalid(name, ", expected an array of ", ShownShape(result));
    }
    if (!outputs_.insert(std::move(index)).second) {
      return Invalid(name, " again, expected one alias of it");
    }
    std::vector<int64_t> key;
    HONE_ASSIGN_OR_RETURN(const Shape* const parameter, ReadParameter(key));
    if (reader_.Take(",") && !reader_.Take("may-alias") &&
        !reader_.Take("must-alias")) {
      return Unexpected("may-alias or must-alias");
    }
    if (!reader_.Take(")")) return Unexpected(")");
    if (!MaySizesAgree(*parameter, *output)) {
      return Invalid(name, " of ", output->byte_size(), " bytes, expected ",
                     parameter->byte_size(), " as ", NameOf(key), " has");
    }
    const std::string parameter_name = NameOf(key);
    if (aliased_.insert(std::move(key)).second) return absl::OkStatus();
    return Invalid(parameter_name, " again, expected one alias of it");
  }

  absl::Status VerifyDonorEntry() {
    std::vector<int64_t> key;
    HONE_RETURN_IF_ERROR(ReadParameter(key).status());
    if (!reader_.Take(")")) return Unexpected(")");
    if (!aliased_.contains(key)) return absl::OkStatus();
    return Invalid(NameOf(key), ", expected one that has no alias");
  }

  // Reads `(1, {0}` and returns its part of the parameter. Sets `key` to the
  // parameter and the index.
  absl::StatusOr<const Shape*> ReadParameter(std::vector<int64_t>& key) {
    if (!reader_.Take("(") || !reader_.Integer(key.emplace_back()) ||
        !reader_.Take(",") || !reader_.Index(key)) {
      return Unexpected("(parameter, {index}");
    }
    const auto count = static_cast<int64_t>(entry_.parameters().size());
    if (key[0] < 0 || key[0] >= count) {
      return Invalid("parameter ", key[0], ", expected one of ", count);
    }
    const Shape& shape = entry_[entry_.parameters()[Index(key[0])]].shape();
    const Shape* part = PartAt(shape, absl::MakeConstSpan(key).subspan(1));
    if (part != nullptr && part->IsArray()) return part;
    return Invalid(NameOf(key), ", expected an array of ", ShownShape(shape));
  }

  static std::string NameOf(absl::Span<const int64_t> key) {
    return absl::StrCat("parameter ", key[0], " {",
                        Excerpt(absl::StrJoin(key.subspan(1), ",")), "}");
  }

  absl::Status Unexpected(absl::string_view expected) {
    const absl::string_view at = reader_.rest();
    return Invalid(
        at.empty() ? "ends early" : absl::StrCat("found ", Excerpt(at)),
        ", expected ", expected);
  }

  const Computation& entry_;
  ValueReader reader_{""};
  absl::flat_hash_set<std::vector<int64_t>> outputs_;
  // Parameters, each followed by the index.
  absl::flat_hash_set<std::vector<int64_t>> aliased_;
};

// Returns null where the header has no such attribute.
const std::string* HeaderValue(const Module& module, absl::string_view name) {
  for (const auto& [key, value] : module.header()) {
    if (key == name) return &value;
  }
  return nullptr;
}

// Prefixes an error with the attribute of the header that it is about.
absl::Status InHeader(const Module& module, absl::string_view name,
                      absl::string_view value, const absl::Status& status) {
  if (status.ok()) return status;
  return Invalid("module ", module.name(), ": ", name, "=", Excerpt(value),
                 ": ", status.message());
}

}  // namespace

absl::StatusOr<int64_t> HeaderCount(const Module& module,
                                    absl::string_view name) {
  const std::string* const value = HeaderValue(module, name);
  if (value == nullptr) return 1;
  ValueReader reader(*value);
  int64_t count = 0;
  if (reader.Integer(count) && reader.AtEnd() && count >= 0) return count;
  return Invalid("module ", module.name(), ": ", name, "=", Excerpt(*value),
                 ", expected an integer from 0 to 2^63-1");
}

absl::Status VerifyAliases(const Module& module) {
  const std::string* const alias = HeaderValue(module, "input_output_alias");
  const std::string* const donors = HeaderValue(module, "buffer_donor");
  AliasVerifier verifier(module);
  if (alias != nullptr) {
    HONE_RETURN_IF_ERROR(InHeader(module, "input_output_alias", *alias,
                                  verifier.VerifyAlias(*alias)));
  }
  if (donors == nullptr) return absl::OkStatus();
  return InHeader(module, "buffer_donor", *donors,
                  verifier.VerifyDonors(*donors));
}

}  // namespace hone::hlo::inference

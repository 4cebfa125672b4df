#include "tests/support/npz.h"

#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include <zlib.h>

#include "base/status_macros.h"

namespace hone::testing {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

// A little-endian number of a file; the callers check that it is there.
template <typename T>
size_t Number(absl::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return static_cast<size_t>(value);
}

absl::StatusOr<std::string> Inflate(absl::string_view bytes, size_t size) {
  std::string out(size, '\0');
  z_stream stream = {};
  // Negative: a raw stream without header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return absl::InternalError("cannot start zlib");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_out != 0) {
    return absl::InvalidArgumentError("broken deflate stream");
  }
  return out;
}

std::optional<ElementType> TypeOf(absl::string_view descr) {
  const std::map<absl::string_view, ElementType> types = {
      {"<f4", ElementType::kF32}, {"<f8", ElementType::kF64},
      {"<i4", ElementType::kS32}, {"<i8", ElementType::kS64},
      {"<u4", ElementType::kU32}, {"|b1", ElementType::kPred}};
  const auto it = types.find(descr);
  if (it == types.end()) return std::nullopt;
  return it->second;
}

// The text between `from` and `to`.
absl::string_view Between(absl::string_view text, absl::string_view from,
                          absl::string_view to) {
  const size_t start = text.find(from);
  if (start == absl::string_view::npos) return "";
  text.remove_prefix(start + from.size());
  return text.substr(0, text.find(to));
}

absl::StatusOr<Literal> ParseNpy(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, "\x93NUMPY\x01") || bytes.size() < 10) {
    return absl::InvalidArgumentError("not a version 1 .npy file");
  }
  const size_t header_size = Number<uint16_t>(bytes, 8);
  const absl::string_view header = bytes.substr(10, header_size);
  const std::optional<ElementType> type =
      TypeOf(Between(header, "'descr': '", "'"));
  if (!type || !absl::StrContains(header, "'fortran_order': False")) {
    return absl::InvalidArgumentError(absl::StrCat("unsupported: ", header));
  }
  DimensionVector dimensions;
  for (absl::string_view part : absl::StrSplit(
           Between(header, "'shape': (", ")"), ',', absl::SkipWhitespace())) {
    int64_t size;
    if (!absl::SimpleAtoi(part, &size)) {
      return absl::InvalidArgumentError(absl::StrCat("bad shape: ", header));
    }
    dimensions.push_back(size);
  }
  Literal literal(Shape::Array(*type, dimensions));
  const absl::string_view data = bytes.substr(10 + header_size);
  if (data.size() != static_cast<size_t>(literal.byte_size())) {
    return absl::InvalidArgumentError("the data does not fit the shape");
  }
  std::memcpy(literal.MutableData(), data.data(), data.size());
  return literal;
}

}  // namespace

absl::StatusOr<std::map<std::string, Literal>> ReadNpz(
    const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string zip = stream.str();
  // The end record names the central directory, whose entries name the files.
  const size_t end = zip.rfind("PK\x05\x06");
  if (end == std::string::npos || end + 20 > zip.size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a zip file"));
  }
  std::map<std::string, Literal> arrays;
  size_t entry = Number<uint32_t>(zip, end + 16);
  for (size_t left = Number<uint16_t>(zip, end + 10); left > 0; --left) {
    const size_t method = Number<uint16_t>(zip, entry + 10);
    const size_t packed_size = Number<uint32_t>(zip, entry + 20);
    const size_t size = Number<uint32_t>(zip, entry + 24);
    const size_t name_size = Number<uint16_t>(zip, entry + 28);
    const size_t local = Number<uint32_t>(zip, entry + 42);
    std::string name = zip.substr(entry + 46, name_size);
    const size_t data = local + 30 + Number<uint16_t>(zip, local + 26) +
                        Number<uint16_t>(zip, local + 28);
    const absl::string_view packed =
        absl::string_view(zip).substr(data, packed_size);
    std::string bytes(packed);
    if (method != 0) {
      HONE_ASSIGN_OR_RETURN(bytes, Inflate(packed, size));
    }
    HONE_ASSIGN_OR_RETURN(Literal literal, ParseNpy(bytes));
    arrays.emplace(name.substr(0, name.rfind(".npy")), std::move(literal));
    entry += 46 + name_size + Number<uint16_t>(zip, entry + 30) +
             Number<uint16_t>(zip, entry + 32);
  }
  return arrays;
}

}  // namespace hone::testing

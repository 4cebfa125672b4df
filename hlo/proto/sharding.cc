#include "hlo/proto/sharding.h"

#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/proto/xla_data.pb.h"

namespace hone::hlo {
namespace {

// OpSharding::Type.
enum : int32_t {
  kReplicated = 0,
  kMaximal = 1,
  kTuple = 2,
  kTiled = 3,
  kManual = 4,
  kUnknown = 5,
  kUnreduced = 6,
};

struct NamedType {
  int32_t type;
  absl::string_view name;
};
constexpr NamedType kNames[] = {{kReplicated, "replicated"},
                                {kManual, "manual"},
                                {kUnknown, "unknown"},
                                {kUnreduced, "unreduced"}};

absl::string_view NameOf(int32_t type) {
  for (const NamedType& t : kNames) {
    if (t.type == type) return t.name;
  }
  return {};
}

bool TypeNamed(absl::string_view name, int32_t& type) {
  for (const NamedType& t : kNames) {
    if (t.name == name) {
      type = t.type;
      return true;
    }
  }
  return false;
}

// `a,b,c` up to something that is no number; at least one.
template <typename Field>
bool ReadNumbers(TextLexer& lexer, Field& field) {
  do {
    int64_t value = 0;
    if (!lexer.Integer(value)) return false;
    field.Add(static_cast<typename Field::value_type>(value));
  } while (lexer.Take(','));
  return true;
}

// Behind `devices=`.
bool ReadTiles(TextLexer& lexer, xla::OpSharding& s) {
  s.set_type(kTiled);
  if (!lexer.Expect('[') ||
      !ReadNumbers(lexer, *s.mutable_tile_assignment_dimensions()) ||
      !lexer.Expect(']')) {
    return false;
  }
  if (!lexer.Take("<=")) {
    return ReadNumbers(lexer, *s.mutable_tile_assignment_devices());
  }
  if (!lexer.Expect('[') ||
      !ReadNumbers(lexer, *s.mutable_iota_reshape_dims()) ||
      !lexer.Expect(']')) {
    return false;
  }
  if (lexer.Take("T(")) {
    return ReadNumbers(lexer, *s.mutable_iota_transpose_perm()) &&
           lexer.Expect(')');
  }
  for (int i = 0; i < s.iota_reshape_dims_size(); ++i) {
    s.add_iota_transpose_perm(i);
  }
  return true;
}

bool ReadLastTileDims(TextLexer& lexer, xla::OpSharding& s) {
  if (!lexer.Expect('=') || !lexer.Expect('{')) return false;
  do {
    int32_t type = 0;
    if (!TypeNamed(lexer.Word(), type)) return false;
    s.add_last_tile_dims(type);
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

// One word and what belongs to it within the braces of a sharding.
bool ReadPart(TextLexer& lexer, xla::OpSharding& s) {
  const absl::string_view word = lexer.Word();
  int32_t type = 0;
  if (TypeNamed(word, type)) {
    s.set_type(type);
    return true;
  }
  int64_t number = 0;
  if (word == "maximal") {
    s.set_type(kMaximal);
    if (!lexer.Expect("device") || !lexer.Expect('=') ||
        !lexer.Integer(number)) {
      return false;
    }
    s.add_tile_assignment_devices(number);
    return true;
  }
  if (word == "devices") return lexer.Expect('=') && ReadTiles(lexer, s);
  if (word == "last_tile_dim_replicate") {
    s.set_replicate_on_last_tile_dim(true);
    return true;
  }
  if (word == "last_tile_dims") return ReadLastTileDims(lexer, s);
  if (word == "shard_as" || word == "shard_like") {
    if (!lexer.Integer(number)) return false;
    s.set_is_shard_group(true);
    s.set_shard_group_id(number);
    s.set_shard_group_type(word == "shard_as" ? 0 : 1);
    return true;
  }
  return false;
}

bool IsIdentity(const google::protobuf::RepeatedField<int32_t>& permutation) {
  for (int i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != i) return false;
  }
  return true;
}

std::string TilesText(const xla::OpSharding& s) {
  std::string text = absl::StrCat(
      "devices=[", absl::StrJoin(s.tile_assignment_dimensions(), ","), "]");
  if (s.iota_reshape_dims().empty()) {
    absl::StrAppend(&text, absl::StrJoin(s.tile_assignment_devices(), ","));
    return text;
  }
  if (IsIdentity(s.iota_transpose_perm())) {
    // The whole iota in order: XLA prints it without its inner shape.
    int64_t devices = 1;
    for (int64_t d : s.iota_reshape_dims()) {
      if (__builtin_mul_overflow(devices, d, &devices)) return text;
    }
    absl::StrAppend(&text, "<=[", devices, "]");
    return text;
  }
  absl::StrAppend(&text, "<=[", absl::StrJoin(s.iota_reshape_dims(), ","),
                  "]T(", absl::StrJoin(s.iota_transpose_perm(), ","), ")");
  return text;
}

}  // namespace

bool ReadSharding(TextLexer& lexer, xla::OpSharding& sharding) {
  if (!lexer.Expect('{')) return false;
  if (lexer.Peek() == '{') {
    sharding.set_type(kTuple);
    do {
      // Tuples do not nest: theirs are flat.
      xla::OpSharding& element = *sharding.add_tuple_shardings();
      if (!lexer.Expect('{')) return false;
      while (!lexer.Take('}')) {
        if (!ReadPart(lexer, element)) return false;
      }
    } while (lexer.Take(','));
    return lexer.Expect('}');
  }
  while (!lexer.Take('}')) {
    if (!ReadPart(lexer, sharding)) return false;
  }
  return true;
}

bool ShardingText(const xla::OpSharding& sharding, std::string& text) {
  text.clear();
  text += '{';
  if (sharding.type() == kTuple) {
    std::string element;
    for (int i = 0; i < sharding.tuple_shardings_size(); ++i) {
      if (sharding.tuple_shardings(i).type() == kTuple ||
          !ShardingText(sharding.tuple_shardings(i), element)) {
        return false;
      }
      absl::StrAppend(&text, i > 0 ? ", " : "", element);
    }
  } else if (sharding.type() == kTiled) {
    text += TilesText(sharding);
  } else if (sharding.type() == kMaximal &&
             sharding.tile_assignment_devices_size() == 1) {
    absl::StrAppend(&text,
                    "maximal device=", sharding.tile_assignment_devices(0));
  } else if (!NameOf(sharding.type()).empty()) {
    absl::StrAppend(&text, NameOf(sharding.type()));
  } else {
    return false;
  }
  if (sharding.is_shard_group()) {
    absl::StrAppend(
        &text, sharding.shard_group_type() == 0 ? " shard_as " : " shard_like ",
        sharding.shard_group_id());
  }
  if (sharding.replicate_on_last_tile_dim()) {
    text += " last_tile_dim_replicate";
  }
  if (sharding.last_tile_dims_size() > 0) {
    text += " last_tile_dims={";
    for (int i = 0; i < sharding.last_tile_dims_size(); ++i) {
      absl::StrAppend(&text, i > 0 ? ", " : "",
                      NameOf(sharding.last_tile_dims(i)));
    }
    text += '}';
  }
  text += '}';
  // Nothing that the text leaves out (metadata, say) must get lost.
  xla::OpSharding again;
  TextError error;
  TextLexer lexer(text, &error);
  return ReadSharding(lexer, again) && lexer.AtEnd() &&
         again.SerializeAsString() == sharding.SerializeAsString();
}

}  // namespace hone::hlo

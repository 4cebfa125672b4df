"""Hone's verifier and XLA's agree on malformed modules.

Usage: verifier_on_xla.py HONE [--verbose]

Each variant is a valid module in which one thing is replaced. `HONE opt` reads
and verifies it; XLA parses, verifies and compiles it. DELIBERATE lists the
variants on which the verdicts are meant to differ, with the reason. Every base
module must be accepted by both. Exit status 1 if any verdict is unexpected, if
Hone crashes or fails in another way than by refusing its input, or if
DELIBERATE names a variant that does not exist.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import xla_judge

# The exit status of a command that refuses its input: kBadInput in
# cli/command.h. A negative one here means that a signal ended the process.
BAD_INPUT = 2

SUM = """
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
"""

# name: module, [(old, new), …]
MODULES = {
    "elementwise": ("""HloModule m
ENTRY e {
  p = f32[4,3] parameter(0)
  q = f32[4,3] parameter(1)
  i = s32[4,3] parameter(2)
  a = f32[4,3] add(p, q)
  c = pred[4,3] compare(a, q), direction=LT
  s = f32[4,3] select(c, a, q)
  n = f32[4,3] negate(s)
  k = s32[4,3] and(i, i)
  v = f32[4,3] convert(k)
  lo = f32[] constant(0)
  hi = f32[] constant(1)
  cl = f32[4,3] clamp(lo, v, hi)
  f = pred[4,3] is-finite(n)
  ROOT t = (f32[4,3], f32[4,3], pred[4,3]) tuple(cl, n, f)
}
""", [("a = f32[4,3] add(p, q)", "a = f32[4,3] add(p, i)"),
      ("a = f32[4,3] add", "a = f32[3,4] add"),
      ("a = f32[4,3] add", "a = f64[4,3] add"),
      ("c = pred[4,3] compare(a, q)", "c = pred[4,3] compare(a, i)"),
      ("c = pred[4,3] compare", "c = s32[4,3] compare"),
      ("select(c, a, q)", "select(i, a, q)"),
      ("select(c, a, q)", "select(c, a, i)"),
      ("and(i, i)", "and(i, p)"),
      ("k = s32[4,3] and(i, i)", "k = s32[4,3] shift-left(i, p)"),
      ("v = f32[4,3] convert", "v = f32[3,4] convert"),
      ("clamp(lo, v, hi)", "clamp(lo, v, k)"),
      ("clamp(lo, v, hi)", "clamp(p, v, hi)"),
      ("is-finite(n)", "is-finite(i)"),
      ("n = f32[4,3] negate(s)", "n = f32[4,3] negate(c)"),
      ("n = f32[4,3] negate(s)", "n = f32[4,3] not(s)"),
      ("n = f32[4,3] negate(s)", "n = f32[4,3] popcnt(s)"),
      ("(f32[4,3], f32[4,3], pred[4,3]) tuple",
       "(f32[4,3], f32[4,3], f32[4,3]) tuple"),
      ("(f32[4,3], f32[4,3], pred[4,3]) tuple(cl, n, f)",
       "(f32[4,3], f32[4,3]) tuple(cl, n, f)"),
      ("parameter(2)", "parameter(3)"),
      ("parameter(2)", "parameter(1)")]),
    "complex": ("""HloModule m
ENTRY e {
  z = c64[4] parameter(0)
  x = f32[4] parameter(1)
  a = f32[4] abs(z)
  r = f32[4] real(z)
  w = c64[4] complex(x, a)
  m = c64[4] multiply(z, w)
  c = pred[4] compare(z, w), direction=EQ
  ROOT t = (f32[4], c64[4], pred[4]) tuple(r, m, c)
}
""", [("a = f32[4] abs(z)", "a = c64[4] abs(z)"),
      ("r = f32[4] real(z)", "r = c64[4] real(z)"),
      ("direction=EQ", "direction=LT"),
      ("complex(x, a)", "complex(x, z)"),
      ("w = c64[4] complex", "w = c128[4] complex"),
      ("multiply(z, w)", "multiply(z, x)"),
      ("m = c64[4] multiply(z, w)", "m = c64[4] maximum(z, w)"),
      ("m = c64[4] multiply(z, w)", "m = c64[4] remainder(z, w)"),
      ("m = c64[4] multiply(z, w)", "m = c64[4] floor(z)"),
      ("r = f32[4] real(z)", "r = f32[4] convert(z)")]),
    "shapes": ("""HloModule m
ENTRY e {
  p = f32[4,6] parameter(0)
  s = f32[] parameter(1)
  b = f32[4,6,2] broadcast(p), dimensions={0,1}
  r = f32[24] reshape(p)
  t = f32[6,4] transpose(p), dimensions={1,0}
  l = f32[2,3] slice(p), slice={[0:4:2], [0:3]}
  d = f32[6,9] pad(p, s), padding=1_1x0_3
  c = f32[8,6] concatenate(p, p), dimensions={0}
  v = f32[4,6] reverse(p), dimensions={0,1}
  i = s32[5,2] iota(), iota_dimension=1
  ROOT o = (f32[4,6,2], f32[24], f32[6,4], f32[2,3], f32[6,9], f32[8,6], f32[4,6], s32[5,2]) tuple(b, r, t, l, d, c, v, i)
}
""", [("dimensions={0,1}\n  r", "dimensions={0,2}\n  r"),
      ("dimensions={0,1}\n  r", "dimensions={0}\n  r"),
      ("dimensions={0,1}\n  r", "dimensions={0,0}\n  r"),
      ("dimensions={0,1}\n  r", "dimensions={0,3}\n  r"),
      ("r = f32[24] reshape", "r = f32[25] reshape"),
      ("t = f32[6,4] transpose", "t = f32[4,6] transpose"),
      ("dimensions={1,0}\n", "dimensions={1,1}\n"),
      ("dimensions={1,0}\n", "dimensions={1}\n"),
      ("slice={[0:4:2], [0:3]}", "slice={[0:5:2], [0:3]}"),
      ("slice={[0:4:2], [0:3]}", "slice={[0:4:2]}"),
      ("slice={[0:4:2], [0:3]}", "slice={[3:1], [0:3]}"),
      ("l = f32[2,3] slice", "l = f32[2,4] slice"),
      ("padding=1_1x0_3", "padding=1_1"),
      ("padding=1_1x0_3", "padding=1_1x0_2"),
      ("pad(p, s)", "pad(p, r)"),
      ("c = f32[8,6] concatenate(p, p), dimensions={0}",
       "c = f32[8,6] concatenate(p, p), dimensions={2}"),
      ("concatenate(p, p)", "concatenate(p, l)"),
      ("reverse(p), dimensions={0,1}", "reverse(p), dimensions={0,0}"),
      ("reverse(p), dimensions={0,1}", "reverse(p), dimensions={2}"),
      ("iota_dimension=1", "iota_dimension=2"),
      ("i = s32[5,2] iota", "i = pred[5,2] iota")]),
    "regions": ("HloModule m\n" + SUM + """
order {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT c = pred[] compare(x, y), direction=LT
}

ENTRY e {
  p = f32[4,6] parameter(0)
  k = s32[8] parameter(1)
  u = f32[2,6] parameter(2)
  j = s32[2,1] parameter(3)
  z = f32[] constant(0)
  r = f32[4] reduce(p, z), dimensions={1}, to_apply=sum
  w = f32[4,5] reduce-window(p, z), window={size=1x2}, to_apply=sum
  s = s32[8] sort(k), dimensions={0}, to_apply=order
  g = f32[2,6] gather(p, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  h = f32[4,6] scatter(p, j, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  m = f32[4,6] map(p, p), dimensions={0,1}, to_apply=sum
  ROOT t = (f32[4], f32[4,5], s32[8], f32[2,6], f32[4,6], f32[4,6]) tuple(r, w, s, g, h, m)
}
""", [("r = f32[4] reduce(p, z), dimensions={1}, to_apply=sum",
       "r = f32[4] reduce(p, z), dimensions={1}, to_apply=order"),
      ("r = f32[4] reduce(p, z), dimensions={1}",
       "r = f32[4] reduce(p, z), dimensions={2}"),
      ("r = f32[4] reduce(p, z), dimensions={1}",
       "r = f32[4] reduce(p, z), dimensions={0}"),
      ("reduce(p, z), dimensions={1}", "reduce(p, p), dimensions={1}"),
      ("window={size=1x2}", "window={size=2}"),
      ("window={size=1x2}", "window={size=1x3}"),
      ("window={size=1x2}", "window={size=1x2 stride=1x2}"),
      ("sort(k), dimensions={0}, to_apply=order",
       "sort(k), dimensions={0}, to_apply=sum"),
      ("sort(k), dimensions={0}", "sort(k), dimensions={1}"),
      ("slice_sizes={1,6}", "slice_sizes={1,5}"),
      ("slice_sizes={1,6}", "slice_sizes={1,7}"),
      ("slice_sizes={1,6}", "slice_sizes={2,6}"),
      ("collapsed_slice_dims={0}", "collapsed_slice_dims={1}"),
      ("start_index_map={0}", "start_index_map={2}"),
      ("gather(p, j)", "gather(p, u)"),
      ("offset_dims={1}", "offset_dims={2}"),
      ("scatter(p, j, u)", "scatter(p, j, p)"),
      ("update_window_dims={1}", "update_window_dims={0}"),
      ("scatter_dims_to_operand_dims={0}", "scatter_dims_to_operand_dims={3}"),
      ("index_vector_dim=1, to_apply=sum", "index_vector_dim=1, to_apply=order"),
      ("map(p, p), dimensions={0,1}, to_apply=sum",
       "map(p, p), dimensions={0,1}, to_apply=order"),
      ("map(p, p), dimensions={0,1}", "map(p, p), dimensions={0}"),
      ("  ROOT c = pred[] compare", "  ROOT c = s32[] compare")]),
    "control": ("""HloModule m
f {
  x = f32[4] parameter(0)
  ROOT r = f32[4] negate(x)
}

g {
  x = f32[4] parameter(0)
  ROOT r = f32[4] abs(x)
}

cond {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}

body {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  v = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[4]) tuple(j, v)
}

ENTRY e {
  p = pred[] parameter(0)
  x = f32[4] parameter(1)
  z = s32[] constant(0)
  c = f32[4] conditional(p, x, x), true_computation=f, false_computation=g
  k = f32[4] call(c), to_apply=f
  t = (s32[], f32[4]) tuple(z, k)
  w = (s32[], f32[4]) while(t), condition=cond, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1
}
""", [("index=1\n}\n", "index=2\n}\n"),
      ("ROOT r = f32[4] get-tuple-element(w), index=1",
       "ROOT r = f32[4] get-tuple-element(w), index=0"),
      ("get-tuple-element(w), index=1", "get-tuple-element(x), index=1"),
      ("while(t), condition=cond, body=body", "while(t), condition=f, body=body"),
      ("while(t), condition=cond, body=body",
       "while(t), condition=cond, body=f"),
      ("while(t), condition=cond, body=body",
       "while(t), condition=body, body=cond"),
      ("while(t)", "while(x)"),
      ("w = (s32[], f32[4]) while", "w = (s32[], f32[5]) while"),
      ("  ROOT r = (s32[], f32[4]) tuple(j, v)",
       "  ROOT r = (f32[4], s32[]) tuple(v, j)"),
      ("conditional(p, x, x)", "conditional(p, x, z)"),
      ("conditional(p, x, x)", "conditional(x, x, x)"),
      ("conditional(p, x, x)", "conditional(z, x, x)"),
      ("false_computation=g", "false_computation=cond"),
      ("c = f32[4] conditional", "c = f32[5] conditional"),
      ("call(c), to_apply=f", "call(c, c), to_apply=f"),
      ("call(c), to_apply=f", "call(z), to_apply=f"),
      ("call(c), to_apply=f", "call(c), to_apply=cond")]),
    "sharding": ("""HloModule m, num_partitions=2
ENTRY e {
  p = f32[4,6] parameter(0), sharding={devices=[2,1]<=[2]}
  q = f32[4,6] negate(p), sharding={devices=[1,2]0,1}
  r = f32[24] reshape(q), sharding={replicated}
  ROOT t = (f32[4,6], f32[24]) tuple(q, r), sharding={{devices=[2,1]<=[2]}, {replicated}}
}
""", [("q = f32[4,6] negate(p), sharding={devices=[1,2]0,1}",
       "q = f32[4,6] negate(p), sharding={devices=[2]0,1}"),
      ("q = f32[4,6] negate(p), sharding={devices=[1,2]0,1}",
       "q = f32[4,6] negate(p), sharding={devices=[1,1,2]0,1}"),
      ("sharding={devices=[1,2]0,1}", "sharding={devices=[1,2]0,1,2}"),
      ("sharding={devices=[1,2]0,1}", "sharding={devices=[1,2]0,2}"),
      ("sharding={devices=[1,2]0,1}", "sharding={devices=[1,4]<=[4]}"),
      ("sharding={devices=[1,2]0,1}", "sharding={maximal device=7}"),
      ("sharding={devices=[1,2]0,1}",
       "sharding={devices=[1,2]<=[2] last_tile_dim_replicate}"),
      ("sharding={replicated}\n", "sharding={devices=[2,1]<=[2]}\n"),
      ("sharding={replicated}\n", "sharding={{replicated}, {replicated}}\n"),
      ("sharding={{devices=[2,1]<=[2]}, {replicated}}",
       "sharding={{devices=[2,1]<=[2]}}"),
      ("sharding={{devices=[2,1]<=[2]}, {replicated}}",
       "sharding={{devices=[2,1]<=[2]}, {replicated}, {replicated}}"),
      ("sharding={{devices=[2,1]<=[2]}, {replicated}}",
       "sharding={{replicated}, {devices=[2,1]<=[2]}}"),
      ("sharding={{devices=[2,1]<=[2]}, {replicated}}",
       "sharding={devices=[2,1]<=[2]}")]),
    "origin": ("""HloModule m
ENTRY e {
  p = f32[4] parameter(0), origin={{"p"}}
  q = f32[4] negate(p), origin={{"q"}}
  ROOT t = (f32[4], f32[4]) tuple(p, q), origin={({"a"}, {"b"})}
}
""", [('origin={{"q"}}', 'origin={({"q"}, {"r"})}'),
      ('origin={({"a"}, {"b"})}', 'origin={({"a"})}'),
      ('origin={({"a"}, {"b"})}', 'origin={({"a"}, {"b"}, {"c"})}'),
      ('origin={({"a"}, {"b"})}', 'origin={({"a"}, ({"b"}))}'),
      ('origin={({"a"}, {"b"})}', 'origin={{"a"}}')]),
    "layouts": ("""HloModule m, entry_computation_layout={(f32[4,6]{1,0})->f32[4,6]{0,1}}
ENTRY e {
  p = f32[4,6]{1,0} parameter(0)
  c = f32[4,6]{0,1} copy(p)
  ROOT n = f32[4,6]{0,1} negate(c)
}
""", [("c = f32[4,6]{0,1} copy", "c = f32[4,6]{0,0} copy"),
      ("c = f32[4,6]{0,1} copy", "c = f32[4,6]{0} copy"),
      ("c = f32[4,6]{0,1} copy", "c = f32[4,6]{2,1} copy"),
      ("{(f32[4,6]{1,0})->", "{(f32[6,4]{1,0})->"),
      ("{(f32[4,6]{1,0})->", "{()->"),
      ("->f32[4,6]{0,1}}", "->f32[24]{0}}")]),
    "narrow": ("""HloModule m
ENTRY e {
  p = s4[8] parameter(0)
  q = f8e4m3fn[8] parameter(1)
  a = s4[8] add(p, p)
  w = s32[8] convert(a)
  f = f32[8] convert(q)
  b = s32[8] bitcast-convert(f)
  u = u8[8,4] bitcast-convert(b)
  ROOT t = (s32[8], s32[8], u8[8,4]) tuple(w, b, u)
}
""", [("a = s4[8] add(p, p)", "a = s8[8] add(p, p)"),
      ("a = s4[8] add(p, p)", "a = s4[8] add(p, q)"),
      ("b = s32[8] bitcast-convert", "b = s64[8] bitcast-convert"),
      ("u = u8[8,4] bitcast-convert", "u = u8[8,2] bitcast-convert"),
      ("w = s32[8] convert", "w = s32[9] convert")]),
    "contractions": ("""HloModule m
ENTRY e {
  a = f32[2,3,4] parameter(0)
  b = f32[2,4,5] parameter(1)
  x = f32[1,8,8,3] parameter(2)
  k = f32[3,3,3,7] parameter(3)
  d = f32[2,3,5] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  c = f32[1,6,6,7] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
  ROOT t = (f32[2,3,5], f32[1,6,6,7]) tuple(d, c)
}
""", [("lhs_contracting_dims={2}", "lhs_contracting_dims={1}"),
      ("lhs_contracting_dims={2}", "lhs_contracting_dims={3}"),
      ("lhs_contracting_dims={2}", "lhs_contracting_dims={0}"),
      ("rhs_batch_dims={0}", "rhs_batch_dims={}"),
      ("d = f32[2,3,5] dot", "d = f32[3,2,5] dot"),
      ("dot(a, b)", "dot(b, a)"),
      ("window={size=3x3}", "window={size=3}"),
      ("window={size=3x3}", "window={size=2x3}"),
      ("window={size=3x3}", "window={size=3x3 stride=2x1}"),
      ("dim_labels=b01f_01io->b01f", "dim_labels=b01f_01oi->b01f"),
      ("c = f32[1,6,6,7] convolution", "c = f32[1,6,6,8] convolution")]),
    "dynamic": ("""HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = s32[] parameter(1)
  s = f32[<=4] set-dimension-size(p, n), dimensions={0}
  m = f32[<=4] negate(s)
  z = s32[] get-dimension-size(m), dimensions={0}
  ROOT t = (f32[<=4], s32[]) tuple(m, z)
}
""", [("s = f32[<=4] set", "s = f32[<=5] set"),
      ("set-dimension-size(p, n), dimensions={0}",
       "set-dimension-size(p, n), dimensions={1}"),
      ("set-dimension-size(p, n)", "set-dimension-size(p, p)"),
      ("z = s32[] get-dimension-size(m), dimensions={0}",
       "z = s32[] get-dimension-size(m), dimensions={1}"),
      ("z = s32[] get-dimension-size", "z = f32[] get-dimension-size"),
      ("m = f32[<=4] negate", "m = f32[4] negate")]),
    "numeric": ("""HloModule m
ENTRY e {
  x = f32[8,4] parameter(0)
  s = f32[4] parameter(1)
  o = f32[4] parameter(2)
  a = f32[3,3] parameter(3)
  v = f32[3,2] parameter(4)
  k = u64[3] parameter(5)
  b = (f32[8,4], f32[4], f32[4]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1
  c = f32[3,3] cholesky(a), lower=true
  t = f32[3,2] triangular-solve(a, v), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  f = c64[8,3] fft(x), fft_type=RFFT, fft_length={4}
  g = (u64[3], u32[5]) rng-bit-generator(k), algorithm=rng_philox
  l = f32[] constant(0)
  h = f32[] constant(1)
  r = f32[8,4] reduce-precision(x), exponent_bits=5, mantissa_bits=10
  w = u32[5] get-tuple-element(g), index=1
  n = f32[8,4] get-tuple-element(b), index=0
  ROOT out = (f32[8,4], f32[3,3], f32[3,2], c64[8,3], u32[5], f32[8,4]) tuple(n, c, t, f, w, r)
}
""", [("feature_index=1", "feature_index=0"),
      ("feature_index=1", "feature_index=2"),
      ("batch-norm-training(x, s, o)", "batch-norm-training(x, s, x)"),
      ("c = f32[3,3] cholesky(a)", "c = f32[3,3] cholesky(v)"),
      ("triangular-solve(a, v), left_side=true",
       "triangular-solve(a, v), left_side=false"),
      ("fft_length={4}", "fft_length={5}"),
      ("f = c64[8,3] fft", "f = c64[8,4] fft"),
      ("fft_type=RFFT", "fft_type=FFT"),
      ("g = (u64[3], u32[5]) rng", "g = (u64[2], u32[5]) rng"),
      ("exponent_bits=5", "exponent_bits=0"),
      ("mantissa_bits=10", "mantissa_bits=-1")]),
    "feeds": ("""HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  t = token[] after-all()
  i = ((f32[3]), token[]) infeed(t)
  d = (f32[3]) get-tuple-element(i), index=0
  n = token[] get-tuple-element(i), index=1
  o = token[] outfeed(d, n), outfeed_shape=(f32[3]{0})
  ROOT y = f32[3] get-tuple-element(d), index=0
}
""", [("i = ((f32[3]), token[]) infeed(t)", "i = (f32[3]) infeed(t)"),
      ("infeed(t)", "infeed(x)"),
      ("outfeed(d, n)", "outfeed(d, d)"),
      ("o = token[] outfeed", "o = f32[3] outfeed"),
      ("t = token[] after-all()", "t = f32[3] after-all()")]),
    "collectives": ("HloModule m, num_partitions=2\n" + SUM + """
ENTRY e {
  x = f32[4,6] parameter(0), sharding={replicated}
  a = f32[4,6] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  g = f32[8,6] all-gather(x), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}
  s = f32[2,6] reduce-scatter(x), channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=sum
  p = f32[4,6] collective-permute(x), channel_id=4, source_target_pairs={{0,1},{1,0}}
  ROOT t = (f32[4,6], f32[8,6], f32[2,6], f32[4,6]) tuple(a, g, s, p)
}
""", [("a = f32[4,6] all-reduce", "a = f32[4,5] all-reduce"),
      ("g = f32[8,6] all-gather", "g = f32[4,6] all-gather"),
      ("g = f32[8,6] all-gather", "g = f32[7,6] all-gather"),
      ("use_global_device_ids=true, dimensions={0}\n",
       "use_global_device_ids=true, dimensions={2}\n"),
      ("s = f32[2,6] reduce-scatter", "s = f32[4,6] reduce-scatter"),
      ("s = f32[2,6] reduce-scatter", "s = f32[2,3] reduce-scatter"),
      ("p = f32[4,6] collective-permute", "p = f32[6,4] collective-permute"),
      ("source_target_pairs={{0,1},{1,0}}",
       "source_target_pairs={{0,1},{0,0}}"),
      ("replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum",
       "replica_groups={{0,0}}, use_global_device_ids=true, to_apply=sum")]),
    "asynchronous": ("HloModule m\n" + SUM + """
ENTRY e {
  x = f32[4,6] parameter(0)
  s = (f32[4,6], f32[8,6]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}
  d = f32[8,6] all-gather-done(s)
  a = f32[4,6] all-reduce-start(x), replica_groups={}, to_apply=sum
  b = f32[4,6] all-reduce-done(a)
  p = (f32[4,6], f32[4,6]) collective-permute-start(x), source_target_pairs={{0,0}}
  q = f32[4,6] collective-permute-done(p)
  ROOT t = (f32[8,6], f32[4,6], f32[4,6]) tuple(d, b, q)
}
""", [("s = (f32[4,6], f32[8,6])", "s = (f32[4,6], f32[7,6])"),
      ("s = (f32[4,6], f32[8,6])", "s = (f32[4,5], f32[8,6])"),
      ("replica_groups={{0,1}}, dimensions={0}", "replica_groups={{0,1}}"),
      ("replica_groups={{0,1}}, dimensions={0}",
       "replica_groups={{0,1}}, dimensions={2}"),
      ("all-gather-done(s)", "all-gather-done(x)"),
      ("d = f32[8,6] all-gather-done", "d = f32[4,6] all-gather-done"),
      ("replica_groups={}, to_apply=sum", "replica_groups={}"),
      ("a = f32[4,6] all-reduce-start", "a = f32[4,5] all-reduce-start"),
      ("all-reduce-done(a)", "all-reduce-done(x)"),
      ("collective-permute-start(x), source_target_pairs={{0,0}}",
       "collective-permute-start(x)"),
      ("p = (f32[4,6], f32[4,6])", "p = (f32[4,6], f32[6,4])"),
      ("collective-permute-done(p)", "collective-permute-done(x)")]),
    "required": ("""HloModule m
f {
  a = f32[4,6] parameter(0)
  ROOT r = f32[4,6] negate(a)
}

ENTRY e {
  x = f32[4,6] parameter(0)
  o = f32[6] parameter(1)
  z = f32[] constant(0)
  c = pred[4,6] compare(x, x), direction=LT
  u = (f32[4,6], f32[6]) tuple(x, o)
  g = f32[4,6] get-tuple-element(u), index=0
  v = f32[4,6] reverse(g), dimensions={}
  l = f32[] slice(z), slice={}
  n = f32[4,6] batch-norm-inference(v, o, o, o, o), epsilon=0.001, feature_index=1
  p = f32[4,6] reduce-precision(n), exponent_bits=5, mantissa_bits=0
  y = f32[4,6] fusion(p), kind=kLoop, calls=f
  ROOT t = (pred[4,6], f32[], f32[4,6]) tuple(c, l, y)
}
""", [("compare(x, x), direction=LT", "compare(x, x)"),
      ("get-tuple-element(u), index=0", "get-tuple-element(u)"),
      ("reverse(g), dimensions={}", "reverse(g)"),
      ("slice(z), slice={}", "slice(z)"),
      ("epsilon=0.001, feature_index=1", "feature_index=1"),
      ("epsilon=0.001, feature_index=1", "epsilon=0.001"),
      ("exponent_bits=5, mantissa_bits=0", "exponent_bits=5"),
      ("kind=kLoop, calls=f", "kind=kBogus, calls=f"),
      ("kind=kLoop, calls=f", "calls=f"),
      ("kind=kLoop, calls=f", "kind=kLoop")]),
    "asynchronous calls": ("""HloModule m
f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] call(x), to_apply=f
}
""", [("ROOT y = f32[4] call(x), to_apply=f",
       "s = ((f32[4]), f32[4], s32[]) async-start(x)\n"
       "  ROOT y = f32[4] async-done(s)"),
      ("ROOT y = f32[4] call(x), to_apply=f",
       "ROOT y = f32[4] async-done(x)"),
      ("ROOT y = f32[4] call(x), to_apply=f",
       "s = (f32[4], f32[4]) async-start(x), calls=f\n"
       "  ROOT y = f32[4] async-done(s)"),
      ("ROOT y = f32[4] call(x), to_apply=f",
       "s = ((f32[5]), f32[4], s32[]) async-start(x), calls=f\n"
       "  ROOT y = f32[4] async-done(s)"),
      ("ROOT y = f32[4] call(x), to_apply=f",
       "s = ((f32[4]), f32[4], s32[]) async-start(x), calls=f\n"
       "  ROOT y = f32[5] async-done(s)")]),
}

# "module: new text": why Hone accepts or refuses what XLA does not.
REBUILT = "the way to XLA's compiler, through StableHLO, rebuilds it"
ROOT = "the way to XLA's compiler, through StableHLO, takes the root apart"
DELIBERATE = {
    "complex: direction=LT":
        "complex numbers have no order; XLA's own inference refuses it, the way "
        "through StableHLO does not ask",
    "complex: r = f32[4] convert(z)":
        "XLA's own inference refuses it, the way through StableHLO does not",
    "regions: map(p, p), dimensions={0}": REBUILT,
    "control: w = (s32[], f32[5]) while": REBUILT,
    "control: c = f32[5] conditional": REBUILT,
    "control: conditional(z, x, x)":
        "XLA wants branch_computations in its text; Hone reads both",
    "layouts: {(f32[6,4]{1,0})->": REBUILT,
    "layouts: ->f32[24]{0}}": REBUILT,
    "contractions: window={size=2x3}": REBUILT,
    "dynamic: s = f32[<=5] set": REBUILT,
    "dynamic: m = f32[4] negate":
        "Hone leaves the dynamic flags of a result to the text, as XLA's "
        "verifier does; StableHLO does not",
    "feeds: t = f32[3] after-all()": REBUILT,
    "feeds: o = f32[3] outfeed": REBUILT,
    "asynchronous: s = (f32[4,5], f32[8,6])": REBUILT,
    "asynchronous: d = f32[4,6] all-gather-done": REBUILT,
    "sharding: sharding={devices=[1,2]0,1,2}":
        "XLA's parser leaves the devices unread that no tile has",
    'origin: origin={({"a"})}': ROOT,
    'origin: origin={({"a"}, {"b"}, {"c"})}': ROOT,
    'origin: origin={({"a"}, ({"b"}))}': ROOT,
    'origin: origin={{"a"}}': ROOT,
}


def hone_verdict(hone, name, path):
    """None if Hone accepts the module, else its message. Ends the script if
    Hone neither accepts nor refuses the module: a crash is no verdict."""
    result = subprocess.run([hone, "opt", str(path), "-o", str(path) + ".out"],
                            capture_output=True, text=True)
    if result.returncode == 0:
        return None
    if result.returncode == BAD_INPUT:
        return result.stderr.strip()
    sys.exit(f"{path.name} ({name}): hone opt ended with exit status "
             f"{result.returncode}, expected 0 or {BAD_INPUT}\n"
             f"{result.stderr}{path.read_text()}")


def answer(judge, request):
    try:
        judge.compile(request["text"])
        return {"why": None}
    except Exception as exception:
        return {"why": xla_judge.first_line(exception)}


def variants():
    """(name, text, whether it is the valid module) of everything judged."""
    for name, (text, replacements) in MODULES.items():
        yield name, text, True
        for old, new in replacements:
            if old not in text:
                sys.exit(f"{name}: '{old}' is not in the module")
            yield f"{name}: {new.strip()}", text.replace(old, new, 1), False


def check_deliberate():
    """Ends the script if DELIBERATE names a variant that does not exist."""
    names = {name for name, _, is_valid in variants() if not is_valid}
    if stale := sorted(DELIBERATE.keys() - names):
        sys.exit("DELIBERATE names no variant: " + ", ".join(stale))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hone", help="the command to test")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    check_deliberate()
    jury = xla_judge.Jury(__file__)
    unexpected, count, refused = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "variant.hlo")
        for name, text, is_valid in variants():
            path.write_text(text)
            ours = hone_verdict(args.hone, name, path)
            reply = jury.ask({"text": text})
            theirs = "XLA died" if reply is None else reply["why"]
            count += 1
            refused += ours is not None
            agree = (ours is None) == (theirs is None)
            if is_valid:
                expected = ours is None and theirs is None
            else:
                expected = agree != (name in DELIBERATE)
            unexpected += not expected
            if args.verbose or not expected:
                print(f"{name}\n  Hone: {ours or 'accepts'}\n"
                      f"  XLA: {theirs or 'accepts'}", flush=True)
    jury.close()
    print(f"{count} modules, {refused} refused by Hone, {len(DELIBERATE)} "
          f"verdicts differ by design, {unexpected} unexpected")
    return 1 if unexpected else 0


if __name__ == "__main__":
    if "--worker" in sys.argv:
        xla_judge.serve(answer)
    else:
        sys.exit(main())

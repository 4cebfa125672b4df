"""Convolutions of one to three dimensions, and their gradients."""

import dataclasses
import math

import jax
import numpy as np
import torch
import torch.nn.functional as F
from jax import lax

from arguments import Argument
from sweep.case import Case, Expression, dimensions, float_type, size

MOST_PRODUCT = 1.2e8  # multiply-adds
FUNCTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d,
              3: F.conv_transpose3d}
MEMORY_FORMATS = {2: torch.channels_last, 3: torch.channels_last_3d}


@dataclasses.dataclass(frozen=True)
class Convolution:
    batch: int
    image: tuple[int, ...]  # height and width, say
    inputs: int
    outputs: int
    window: tuple[int, ...]
    stride: int
    dilation: int
    padding: int
    groups: int
    last: bool  # channels are the last dimension
    type: str

    @property
    def rank(self):
        return len(self.image)

    @property
    def fan_in(self):
        return math.prod(self.window) * self.inputs // self.groups

    @property
    def output_image(self):
        return tuple((i + 2 * self.padding - self.dilation * (w - 1) - 1) //
                     self.stride + 1 for i, w in zip(self.image, self.window))

    @property
    def product(self):
        return (self.batch * math.prod(self.output_image) * self.outputs *
                self.fan_in)

    def image_shape(self, image, channels):
        return ((self.batch, *image, channels) if self.last else
                (self.batch, channels, *image))

    @property
    def filter_shape(self):
        first = (self.outputs, self.inputs // self.groups)
        return ((*self.window, *first[::-1]) if self.last else
                (*first, *self.window))

    @property
    def labels(self):
        spatial = "DHW"[3 - self.rank:]
        images = f"N{spatial}C" if self.last else f"NC{spatial}"
        filters = f"{spatial}IO" if self.last else f"OI{spatial}"
        return images, filters, images

    @property
    def label(self):
        """A name without the kind."""
        parts = [f"{self.rank}d_{self.labels[0].lower()}_{self.type}",
                 f"{self.batch}x{dimensions(self.image)}x{self.inputs}",
                 f"{dimensions(self.window)}x{self.outputs}"]
        parts += [f"{name}{value}" for name, value, usual in (
            ("s", self.stride, 1), ("d", self.dilation, 1),
            ("g", self.groups, 1), ("p", self.padding, 0)) if value != usual]
        return "_".join(parts)

    def apply(self, x, w):
        return lax.conv_general_dilated(
            x, w, (self.stride,) * self.rank,
            ((self.padding,) * 2,) * self.rank,
            rhs_dilation=(self.dilation,) * self.rank,
            dimension_numbers=self.labels, feature_group_count=self.groups)

    def images_for_torch(self, x):
        """The image as PyTorch names its dimensions, as it lies in memory."""
        return x.movedim(-1, 1) if self.last else x

    def filters_for_torch(self, w):
        if not self.last:
            return w
        return w.permute(self.rank + 1, self.rank, *range(self.rank))

    def restore(self, image):
        return image.movedim(1, -1) if self.last else image

    def restore_filters(self, w):
        if not self.last:
            return w
        return w.permute(*range(2, 2 + self.rank), 1, 0)


def _random(rng, groups="one"):
    """`groups`: "one", "some" or "depthwise"."""
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    width = {1: (64, 4096), 2: (7, 96), 3: (6, 24)}[rank]
    image = tuple(size(rng, *width) for _ in range(rank))
    if rng.random() < 0.5:
        image = image[:1] * rank
    window = (int(rng.choice([1, 3, 3, 3, 5, 7] if rank < 3 else [1, 3, 3])),
              ) * rank
    stride = int(rng.choice([1, 1, 2]))
    dilation = 2 if window[0] == 3 and rng.random() < 0.2 else 1
    padding = dilation * (window[0] // 2) if rng.random() < 0.75 else 0
    inputs = 3 if rng.random() < 0.15 else size(rng, 4, 160)
    outputs = size(rng, 4, 160)
    count = 1
    if groups == "some":
        count = int(rng.choice([2, 4, 8]))
        inputs, outputs = (count * max(1, round(c / count))
                           for c in (inputs, outputs))
    elif groups == "depthwise":
        inputs = outputs = size(rng, 16, 512)
        count = inputs
    case = Convolution(size(rng, 1, 8), image, inputs, outputs, window, stride,
                       dilation, padding, count, bool(rng.random() < 0.6),
                       float_type(rng))
    least = dilation * (window[0] - 1) + 1
    while case.product > MOST_PRODUCT:
        case = dataclasses.replace(
            case, batch=max(1, case.batch // 2),
            image=tuple(max(least, i * 4 // 5) for i in case.image))
        if case.batch == 1 and max(case.image) <= max(least, 8):
            break
    return dataclasses.replace(
        case, image=tuple(max(least, i) for i in case.image))


def _formats(case):
    """PyTorch's default layout, and the one in which channels are last."""
    if case.rank not in MEMORY_FORMATS:
        return {"contiguous": lambda x: x.contiguous()}
    return {"contiguous": lambda x: x.contiguous(),
            "channels_last": lambda x: x.contiguous(
                memory_format=MEMORY_FORMATS[case.rank])}


def _forward(case, kind, name):
    def expression(format, lay_out):
        return Expression(
            f"conv {format}",
            lambda x, w: FUNCTIONS[case.rank](
                x, w, None, case.stride, case.padding, case.dilation,
                case.groups),
            lambda x, w: (lay_out(case.images_for_torch(x)),
                          lay_out(case.filters_for_torch(w))), case.restore)

    return Case(
        f"{name}{case.label}", kind, case.apply,
        (Argument(case.image_shape(case.image, case.inputs), case.type),
         Argument(case.filter_shape, case.type, scale=case.fan_in**-0.5)),
        tuple(expression(*item) for item in _formats(case).items()))


def convolution(rng):
    return _forward(_random(rng), "convolution", "conv")


def grouped(rng):
    return _forward(_random(rng, "some"), "grouped convolution", "conv")


def depthwise(rng):
    return _forward(_random(rng, "depthwise"), "depthwise convolution",
                    "depthwise")


def _gradient(case, kind, name, position):
    """The gradient of argument `position`: 0, the image, or 1, the filters."""
    x_shape = case.image_shape(case.image, case.inputs)
    g_shape = case.image_shape(case.output_image, case.outputs)
    mask = [position == 0, position == 1, False]
    spec = [jax.ShapeDtypeStruct(s, np.float32)
            for s in (x_shape, case.filter_shape)]

    def function(other, g):
        like = jax.numpy.zeros(spec[position].shape, other.dtype)
        apply = ((lambda x: case.apply(x, other)) if position == 0 else
                 (lambda w: case.apply(other, w)))
        return jax.vjp(apply, like)[1](g)[0]

    def expression(format, lay_out):
        def prepare(other, g):
            other = (case.filters_for_torch(other) if position == 0 else
                     case.images_for_torch(other))
            like = torch.empty(
                (case.batch, case.inputs, *case.image) if position == 0 else
                (case.outputs, case.inputs // case.groups, *case.window),
                dtype=other.dtype)
            pair = ((like, other) if position == 0 else (other, like))
            return [lay_out(t) for t in (
                case.images_for_torch(g), *pair)]

        def compute(g, x, w):
            return torch.ops.aten.convolution_backward(
                g, x, w, None, [case.stride] * case.rank,
                [case.padding] * case.rank, [case.dilation] * case.rank, False,
                [0] * case.rank, case.groups, mask)[position]

        return Expression(f"convolution_backward {format}", compute, prepare,
                          (case.restore, case.restore_filters)[position])

    given = case.filter_shape if position == 0 else x_shape
    terms = (case.fan_in if position == 0 else
             case.batch * math.prod(case.output_image))
    return Case(
        f"{name}{case.label}", kind, function,
        (Argument(given, case.type),
         Argument(g_shape, case.type, scale=terms**-0.5)),
        tuple(expression(*item) for item in _formats(case).items()))


def weight_gradient(rng):
    return _gradient(_random(rng), "weight gradient", "wgrad", 1)


def input_gradient(rng):
    return _gradient(_random(rng), "input gradient", "igrad", 0)


def transposed(rng):
    """As lax.conv_transpose defines it: a convolution of the dilated image."""
    case = dataclasses.replace(_random(rng), dilation=1)
    stride = int(rng.choice([2, 2, 3, 4]))
    case = dataclasses.replace(case, stride=stride, padding=0)
    while (case.batch * math.prod(case.image) * case.outputs *
           case.fan_in > MOST_PRODUCT / 2):
        case = dataclasses.replace(case, image=tuple(
            max(2, i * 4 // 5) for i in case.image))
    edge = tuple((w - 1, w - 1) for w in case.window)

    def function(x, w):
        return lax.conv_general_dilated(
            x, w, (1,) * case.rank, edge, lhs_dilation=(stride,) * case.rank,
            dimension_numbers=case.labels)

    def expression(format, lay_out):
        def prepare(x, w):
            w = case.filters_for_torch(w).flip(*range(2, 2 + case.rank))
            return (lay_out(case.images_for_torch(x)),
                    lay_out(w.transpose(0, 1)))

        return Expression(
            f"conv_transpose {format}",
            lambda x, w: TRANSPOSED[case.rank](x, w, None, stride), prepare,
            case.restore)

    return Case(
        f"transposed{case.label}", "transposed convolution", function,
        (Argument(case.image_shape(case.image, case.inputs), case.type),
         Argument(case.filter_shape, case.type, scale=case.fan_in**-0.5)),
        tuple(expression(*item) for item in _formats(case).items()))

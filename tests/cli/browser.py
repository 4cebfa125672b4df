"""Opens pages in Chromium. Debian's package chromium has to be installed."""

import collections
import html
import json
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

from command_line import Scratch

# A name that would end a script, begin a comment or a tag, or a line.
HOSTILE = "</script><b id=\"injected\">'\"&amp;<!--\u2028\\"
# What scripts that are added to a page use it with.
USER = """const press = (canvas, key) => canvas.dispatchEvent(
  new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
const tipAt = (part, x, y) => {
  const box = part.getBoundingClientRect();
  part.dispatchEvent(new PointerEvent('pointermove',
    {clientX: box.left + x, clientY: box.top + y}));
  return $('tip').style.display === 'block' ? $('tip').textContent : '';
};
"""


def chromium(page, *arguments):
    """Runs Chromium without a window on a page and returns what it prints."""
    program = shutil.which("chromium")
    assert program, "chromium is not installed: tools/install_deps.sh test"
    # Processes of it may write to its profile a little longer.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        return subprocess.run(
            [program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={profile}", "--window-size=900,1200",
             "--virtual-time-budget=5000", *arguments, page.as_uri()],
            check=True, capture_output=True, timeout=120).stdout.decode()


def pixels(png):
    """How often each color is in a PNG of 8 bits per channel."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    offset, packed = 8, b""
    while offset < len(png):
        size, kind = struct.unpack(">I4s", png[offset:offset + 8])
        chunk = png[offset + 8:offset + 8 + size]
        offset += size + 12
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", chunk[:10])
            assert depth == 8 and color in (2, 6)
        elif kind == b"IDAT":
            packed += chunk
    data, step = zlib.decompress(packed), 3 if color == 2 else 4
    above, counts = bytearray(width * step), collections.Counter()
    for y in range(height):
        start = y * (width * step + 1)
        method, row = data[start], bytearray(
            data[start + 1:start + 1 + width * step])
        for i in range(len(row) if method else 0):
            left, up = row[i - step] if i >= step else 0, above[i]
            corner = above[i - step] if i >= step else 0
            guess = left + up - corner
            row[i] = (row[i] + (
                0, left, up, (left + up) // 2,
                min((left, up, corner), key=lambda v: abs(guess - v)),
            )[method]) & 255
        counts.update(zip(*(row[c::step] for c in range(3))))
        above = row
    return counts


class Pages(Scratch):
    def open(self, page):
        """The page after its scripts, and the attributes of its body."""
        dom = chromium(page, "--dump-dom")
        body = re.search(r"<body[^>]*>", dom)[0]
        found = {name: html.unescape(value) for name, value in
                 re.findall(r'data-([\w-]+)="([^"]*)"', body)}
        self.assertNotIn("error", found)
        self.assertEqual(found["state"], "ready")
        return dom, found

    def use(self, page, script):
        """What a script puts in `seen` while it uses a page."""
        script = (f"<script>{USER}const seen = {{}};\n{script}\n"
                  "document.body.dataset.seen = JSON.stringify(seen);</script>")
        _, found = self.open(self.write(
            "used.html", page.replace("</body>", script + "</body>")))
        return json.loads(found["seen"])

    def check_self_contained(self, page, dom):
        """Nothing is loaded, and hostile names are text."""
        self.assertIsNone(re.search(r"https?://|//[\w.]+/|url\(|@import", page))
        self.assertEqual(page.count("</script>"), dom.count("</script>"))
        self.assertNotIn('<b id="injected"', dom)
        self.assertIn(html.escape(HOSTILE, quote=False), dom)

#!/usr/bin/env python3
"""Copies an MP4 file, saying in its track header that it is to be shown turned.

turn-mp4.py FROM TO DEGREES        DEGREES against the clock: 90, 180 or 270

ffmpeg can do this only since version 6. The file's size stays, so that no offset in it changes.
"""

import struct
import sys

source, target, degrees = sys.argv[1], sys.argv[2], int(sys.argv[3])
# The first two columns of the matrix's first two rows.
A, B, C, D = {90: (0, -1, 1, 0), 180: (-1, 0, 0, -1), 270: (0, 1, -1, 0)}[degrees]


def boxes(data, start, end):
    """The boxes of a stretch of the file: (kind, start of the content, end)."""
    while start + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, start)
        head = 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", data, start + 8)
            head = 16
        elif size == 0:
            size = end - start
        if size < head:
            sys.exit(f"{source}: a box that is too small")
        yield kind, start + head, min(start + size, end)
        start += size


with open(source, "rb") as file:
    data = bytearray(file.read())

turned = 0
for kind, start, end in boxes(data, 0, len(data)):
    if kind != b"moov":
        continue
    for inner, track, track_end in boxes(data, start, end):
        if inner != b"trak":
            continue
        for name, header, _ in boxes(data, track, track_end):
            if name != b"tkhd":
                continue
            # Times and duration have 8 bytes instead of 4 in version 1.
            matrix = header + (52 if data[header] == 1 else 40)
            width, height = struct.unpack_from(">II", data, matrix + 36)
            if not width or not height:
                continue
            # Moved back to where its upper left corner is the origin.
            shift_x = width if A < 0 else height if C < 0 else 0
            shift_y = width if B < 0 else height if D < 0 else 0
            one = 1 << 16
            struct.pack_into(">9i", data, matrix, A * one, B * one, 0, C * one, D * one, 0, shift_x, shift_y, 1 << 30)
            turned += 1

if not turned:
    sys.exit(f"{source}: no video track found")
with open(target, "wb") as file:
    file.write(data)

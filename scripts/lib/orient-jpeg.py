#!/usr/bin/env python3
"""Copies a JPEG file, giving it an EXIF tag that says which way up it is.

orient-jpeg.py FROM TO ORIENTATION        ORIENTATION from 1 to 8
"""

import struct
import sys

source, target, orientation = sys.argv[1], sys.argv[2], int(sys.argv[3])

with open(source, "rb") as file:
    data = file.read()
if data[:2] != b"\xff\xd8":
    sys.exit(f"{source}: not a JPEG file")

# A TIFF head, one directory with one entry: tag 0x0112, one number of 16 bits.
tiff = struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<HHHIHHI", 1, 0x0112, 3, 1, orientation, 0, 0)
content = b"Exif\0\0" + tiff
segment = b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
with open(target, "wb") as file:
    file.write(data[:2] + segment + data[2:])

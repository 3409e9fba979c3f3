#!/usr/bin/env python3
"""Plays one video with a GStreamer pipeline and counts the frames that its sink has shown.

    player.py PIPELINE FILE

PIPELINE is gst-launch text for a playbin3 whose sink is named "shown"; FILE becomes its uri. Each line on standard
input is answered by a line of JSON: {"rendered": N, "dropped": N, "ended": false}. The end of input ends the player.

GStreamer is called through ctypes: the counting costs nothing while the video plays, because this thread sleeps in a
read, and neither python's GStreamer bindings nor a compiler is needed.
"""

import ctypes
import ctypes.util
import json
import pathlib
import sys

STATE_NULL, STATE_PLAYING = 1, 4
MESSAGE_EOS, MESSAGE_ERROR = 1, 2
POINTER = ctypes.c_void_p


def load(name, soname):
    """Opens a shared library by its soname, or by what the linker knows under its short name."""
    try:
        return ctypes.CDLL(soname)
    except OSError:
        found = ctypes.util.find_library(name)
        if found is None:
            sys.exit(f"player: {soname} is missing")
        return ctypes.CDLL(found)


GST = load("gstreamer-1.0", "libgstreamer-1.0.so.0")
GOBJECT = load("gobject-2.0", "libgobject-2.0.so.0")

for function, result, arguments in (
    (GST.gst_init, None, [POINTER, POINTER]),
    (GST.gst_parse_launch, POINTER, [ctypes.c_char_p, POINTER]),
    (GST.gst_bin_get_by_name, POINTER, [POINTER, ctypes.c_char_p]),
    (GST.gst_element_set_state, ctypes.c_int, [POINTER, ctypes.c_int]),
    (GST.gst_element_get_bus, POINTER, [POINTER]),
    (GST.gst_bus_pop_filtered, POINTER, [POINTER, ctypes.c_int]),
    (GST.gst_message_get_structure, POINTER, [POINTER]),
    (GST.gst_structure_get_uint64, ctypes.c_int, [POINTER, ctypes.c_char_p, POINTER]),
    (GST.gst_structure_free, None, [POINTER]),
    (GST.gst_structure_to_string, ctypes.c_char_p, [POINTER]),
    (GST.gst_util_set_object_arg, None, [POINTER, ctypes.c_char_p, ctypes.c_char_p]),
):
    function.restype, function.argtypes = result, arguments


def counts(pipeline):
    """What the sink itself counted: (rendered, dropped)."""
    sink = GST.gst_bin_get_by_name(pipeline, b"shown")
    if not sink:
        return 0, 0
    structure = POINTER()
    GOBJECT.g_object_get(POINTER(sink), b"stats", ctypes.byref(structure), POINTER())
    found = []
    for field in (b"rendered", b"dropped"):
        value = ctypes.c_uint64()
        GST.gst_structure_get_uint64(structure, field, ctypes.byref(value))
        found.append(value.value)
    GST.gst_structure_free(structure)
    GOBJECT.g_object_unref(POINTER(sink))
    return tuple(found)


def ended(bus):
    """Whether the stream is over. An error of the pipeline's ends the program with its text."""
    message = GST.gst_bus_pop_filtered(bus, MESSAGE_EOS | MESSAGE_ERROR)
    if not message:
        return False
    # An end of stream has no structure; an error has one, with its text in it.
    structure = GST.gst_message_get_structure(message)
    if structure:
        sys.exit("player: " + GST.gst_structure_to_string(structure).decode(errors="replace"))
    return True


def main():
    """Plays, and answers, until the input ends."""
    description, path = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    GST.gst_init(None, None)
    pipeline = GST.gst_parse_launch(description.encode(), None)
    if not pipeline:
        sys.exit(f"player: no such pipeline: {description}")
    GST.gst_util_set_object_arg(pipeline, b"uri", path.as_uri().encode())
    bus = GST.gst_element_get_bus(pipeline)
    GST.gst_element_set_state(pipeline, STATE_PLAYING)
    over = False
    for _ in sys.stdin:
        over = over or ended(bus)
        rendered, dropped = counts(pipeline)
        print(json.dumps({"rendered": rendered, "dropped": dropped, "ended": over}), flush=True)
    GST.gst_element_set_state(pipeline, STATE_NULL)


main()

"""Reads a trace in Perfetto's format by its specification, without code of pgas."""
import struct
from typing import Iterator, NamedTuple

SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        assert shift < 70, "a varint without an end"


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value = struct.unpack_from("<Q", data, at)[0]
            at += 8
        elif kind == 2:
            length, at = varint(data, at)
            value = data[at:at + length]
            assert len(value) == length, "a field is cut off"
            at += length
        else:
            raise AssertionError(f"wire type {kind}")
        yield tag >> 3, value


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


class Event:
    """A slice or a moment, with the flows that begin at it and the flows that end at its end."""

    def __init__(self, pe: int, track: str, begin: int, name: str, category: str, facts: dict, flows: list[int], ends: list[int]):
        self.pe, self.track, self.begin, self.end = pe, track, begin, begin
        self.name, self.category, self.facts, self.flows, self.ends = name, category, facts, flows, ends

    def __repr__(self):
        return f"PE {self.pe} {self.track}: {self.name} [{self.begin}, {self.end}] {self.facts}"


class Trace(NamedTuple):
    about: dict[int, dict]  # by PE
    tracks: dict[int, list[str]]  # names, indexed by PE
    events: list[Event]


def annotation(data: bytes) -> tuple[str, int | str]:
    name, value = "", 0
    for number, field in fields(data):
        if number == 10:
            name = field.decode()
        elif number == 6:
            value = field.decode()
        elif number == 4:
            value = signed(field)
        elif number == 3:
            value = field
    return name, value


def read(path) -> Trace:
    """Reads the trace. Asserts that every track is described before its events, in the order of time, and properly
    nested."""
    with open(path, "rb") as file:
        data = file.read()
    trace = Trace({}, {}, [])
    names: dict[int, tuple[str, int]] = {}  # names of tracks, with the parents of the tracks
    pe_of: dict[int, int] = {}
    open_slices: dict[int, list[Event]] = {}
    last: dict[int, int] = {}
    for number, packet in fields(data):
        assert number == 1, f"field {number} of a trace"
        parts = dict(fields(packet))
        assert parts.get(10, 0) != 0, "a packet without a sequence"
        if 60 in parts:
            descriptor = dict(fields(parts[60]))
            uuid = descriptor[1]
            assert uuid not in names, "a track is described twice"
            assert descriptor.get(5, 0) in names or 5 not in descriptor, "a parent comes after its child"
            names[uuid] = (descriptor[2].decode(), descriptor.get(5, 0))
            if 5 in descriptor:
                trace.tracks.setdefault(pe_of[descriptor[5]], []).append(names[uuid][0])
            else:
                pe_of[uuid] = int(names[uuid][0].split(",")[0].removeprefix("PE "))
            continue
        time = parts[8]
        facts, flows, ends, event = {}, [], [], {}
        for field, value in fields(parts[11]):
            if field == 4:
                name, said = annotation(value)
                facts[name] = said
            elif field == 47:
                flows.append(value)
            elif field == 48:
                ends.append(value)
            else:
                event[field] = value
        uuid, kind = event[11], event[9]
        name, parent = names[uuid]
        assert time >= last.get(uuid, 0), f"{name} goes back in time"
        last[uuid] = time
        if parent == 0:
            trace.about[pe_of[uuid]] = facts
            continue
        opened = open_slices.setdefault(uuid, [])
        if kind == SLICE_END:
            ended = opened.pop()
            ended.end = time
            ended.ends += ends
            continue
        made = Event(pe_of[parent], name, time, event[23].decode(), event[22].decode(), facts, flows, ends)
        trace.events.append(made)
        if kind == SLICE_BEGIN:
            opened.append(made)
    assert not any(open_slices.values()), "a slice does not end"
    return trace

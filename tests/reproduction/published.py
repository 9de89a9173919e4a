"""Files in the published formats, all of it invented."""

import gzip
import json
from pathlib import Path


def business(number=1, **changes):
    """A line of Google Local's metadata, with the keys of the published files."""
    return {
        "name": f"House {number}",
        "address": f"House {number}, {number} Elm St, New York, NY 10001",
        "gmap_id": gmap_id(number),
        "description": None,
        "latitude": 40.75,
        "longitude": -73.99,
        "category": ["Hotel"],
        "avg_rating": 4.2,
        "num_of_reviews": 58,
        "price": None,
        "hours": [["Monday", "9AM–5PM"]],
        "MISC": {"Service options": ["Takeout"]},
        "state": "Closed ⋅ Opens 9AM",
        "relative_results": [gmap_id(900)],
        "url": "https://maps.example/1",
    } | changes


def review(number=1, of=1, **changes):
    """A line of Google Local's reviews: review `number`, of business `of`."""
    return {
        "user_id": f"1000{number}",
        "name": f"Person {number}",
        "time": 1577836800000 + number,
        "rating": 1 + number % 5,
        "text": f"Review {number} of a quiet room with a view.",
        "pics": None,
        "resp": None,
        "gmap_id": gmap_id(of),
    } | changes


def gmap_id(number):
    return f"0x89c2:0x{number:04x}"


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


def line(record) -> bytes:
    """A record as the published files have it; what is bytes already stays."""
    return record if isinstance(record, bytes) else json.dumps(record).encode()


def write(path: Path, records) -> Path:
    content = b"".join(line(record) + b"\n" for record in records)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path

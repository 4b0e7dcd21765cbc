"""The hub folder described in Croissant 1.0 (JSON-LD over schema.org; mlcommons.org/croissant)."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from likewise.evaluation.bundles.files import FileRecord
from likewise.evaluation.hub.tables import HubTable

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
TYPES = {"string": "sc:Text", "image": "sc:ImageObject", "float64": "sc:Float"}  # the rest are whole numbers


def croissant_text(card: Mapping[str, Any], tables: Sequence[HubTable], files: Mapping[str, FileRecord]) -> str:
    """The JSON-LD of a folder with these files; a table in several files has one record set for each."""
    objects, records = [], []
    for table in tables:
        names = [name for name in files if name.startswith(f"{table.name}/")]
        for number, name in enumerate(names):
            identifier = table.name if len(names) == 1 else f"{table.name}-{number:05d}"
            objects.append(
                {
                    "@type": "cr:FileObject",
                    "@id": f"{identifier}.parquet",
                    "name": f"{identifier}.parquet",
                    "contentUrl": name,
                    "contentSize": f"{files[name].bytes} B",
                    "encodingFormat": "application/x-parquet",
                    "sha256": files[name].sha256,
                }
            )
            fields = [_field(identifier, column, kind) for column, kind in table.features.items()]
            records.append({"@type": "cr:RecordSet", "@id": identifier, "name": identifier, "field": fields})
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": re.sub(r"[^\w-]+", "-", card["title"]).strip("-"),
        "description": card["description"] or card["title"],
        "license": card["licence"],
        "version": "1.0.0",
        "datePublished": card["date"],
        "citeAs": card["title"],
        "distribution": objects,
        "recordSet": records,
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _field(table: str, column: str, kind: str) -> dict[str, Any]:
    source: dict[str, Any] = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column}}
    if kind == "image":
        source["transform"] = {"jsonPath": "bytes"}
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        "dataType": TYPES.get(kind, "sc:Integer"),
        "source": source,
    }

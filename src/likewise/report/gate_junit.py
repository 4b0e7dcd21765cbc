"""A gate as JUnit XML, which every CI shows: one test case for the average and one per category.

A category that is undecided is skipped; an average that is undecided is an error, because the gate does not open.
"""

import re
from xml.etree import ElementTree

from likewise.evaluation.gate.result import OVERALL, GateResult
from likewise.report.formatting import interval, points

SUITE = "likewise gate"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: GateResult) -> str:
    """The XML as text, without times or dates: the same gate gives the same bytes."""
    rows = result.groups.to_dicts()
    suite = ElementTree.Element("testsuite", name=SUITE, tests=str(len(rows)))
    counts = dict.fromkeys(("failures", "errors", "skipped"), 0)
    for row in rows:
        name = f"{result.measure} {row['group']}"
        case = ElementTree.SubElement(suite, "testcase", classname=f"{result.new} against {result.old}", name=name)
        difference = f"{points(row['difference'])} points ({interval(row['low'], row['high'], signed=True)})"
        message = f"{row['verdict']}: {difference} over {row['n_queries']} queries"
        if row["verdict"] == "fail":
            _outcome(case, "failure", counts, "failures", message, result)
        elif row["verdict"] == "undecided" and row["group"] == OVERALL and result.verdict == "undecided":
            _outcome(case, "error", counts, "errors", message, result)
        elif row["verdict"] == "undecided":
            _outcome(case, "skipped", counts, "skipped", message, None)
        else:
            ElementTree.SubElement(case, "system-out").text = message
    for name, count in counts.items():
        suite.set(name, str(count))
    suites = ElementTree.Element("testsuites", name=SUITE, tests=str(len(rows)))
    suites.append(suite)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)
    return NOT_IN_XML.sub("?", text) + "\n"


def _outcome(
    case: ElementTree.Element, tag: str, counts: dict[str, int], count: str, message: str, result: GateResult | None
) -> None:
    counts[count] += 1
    found = ElementTree.SubElement(case, tag, message=message)
    if result is not None:
        found.text = "\n".join(result.sentences())

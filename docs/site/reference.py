"""Writes the reference of every call: a page for each public header, from the XML that doxygen makes of the doc blocks.

A name has one entry with all its overloads, because the doc blocks describe an overload by its difference to the first
one. Breathe would make an entry for each overload, and headings for none of them, so neither the navigation nor the
titles in the search would show the names.
"""

import collections
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

LABELS = ("Callers", "Units", "Memory", "On return", "Order", "Errors")  # of the doc blocks, each starts an item
GROUPS = [  # heading, which headers; the first that fits
    ("In kernels", lambda header: "/device/" in header or header == "pgas/device.hpp"),
    ("On a stream", lambda header: "/stream" in header),
    ("Sharing between programs", lambda header: re.search(r"/(shared_memory|timeline|ipc_event|sharing)\.", header)),
    ("From the host", lambda header: True),
]
SPECIAL = re.compile(r"/(bulk|ll_channel|packet_channel)\.")  # headers with other forms of the usual calls


class Entry(NamedTuple):
    name: str  # with its class: `world::allocate`
    declaration: str
    text: str  # the doc block as Markdown
    line: int
    field_of: str = ""  # the struct of a field; the entry of the struct lists its fields


def kind_of(page: str) -> str:
    return "device" if page.startswith("device-") else "stream" if page.startswith("stream") else "host"


def escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|~$])", r"\\\1", re.sub(r"\s+", " ", text))


def plain(element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip() if element is not None else ""


def code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{text}{mark}" if text.strip() else text


class Text:
    """Converts doc blocks to Markdown. `links` maps the ids of doxygen to pages."""

    def __init__(self, links, page: str):
        self.links, self.page = links, page

    def link(self, text: str, id: str) -> str:
        name = text.removesuffix("()").split("::")[-1]
        # The text names a call without its parameters, and doxygen may choose an overload of another header: the one of
        # this page, or of the same kind of header, is meant.
        target = self.links.get((self.page, name)) or self.links.get((kind_of(self.page), name)) or self.links.get(id)
        return f"[{code(text)}]({target})" if target else code(text)

    def inline(self, element) -> str:
        text = escaped(element.text or "")
        for child in element:
            tag = child.tag
            if tag == "computeroutput":
                text += code(plain(child))
            elif tag == "emphasis":
                text += f"*{escaped(plain(child))}*"
            elif tag == "bold":
                text += f"**{escaped(plain(child))}**"
            elif tag == "ref":
                text += self.link(plain(child), child.get("refid"))
            elif tag == "ulink":
                text += f"[{escaped(plain(child))}]({child.get('url')})"
            elif tag == "ndash":
                text += "--"  # doxygen reads the two hyphens of an option as a dash
            elif tag in ("verbatim", "programlisting", "itemizedlist", "orderedlist", "parameterlist", "simplesect"):
                text += f"\n\n{self.block(child)}\n\n"
            else:
                text += self.inline(child)
            text += escaped(child.tail or "")
        return text

    def block(self, element) -> str:
        if element.tag == "verbatim":
            return f"```text\n{(element.text or '').rstrip()}\n```"
        if element.tag == "programlisting":
            return "```cpp\n" + "\n".join("".join(line.itertext()) for line in element) + "\n```"
        if element.tag in ("itemizedlist", "orderedlist"):
            return "\n".join("* " + " ".join(self.inline(each).split()) for item in element for each in item)
        if element.tag == "parameterlist":
            items = [(plain(item.find("parameternamelist")), self.inline(item.find("parameterdescription")).strip()) for item in element]
            label = "*Throws* " if element.get("kind") == "exception" else ""
            return "\n".join(f"* {label}{code(name)}: {' '.join(text.split())}" for name, text in items)
        if element.tag == "simplesect":
            label = {"return": "Returns", "note": "Note"}.get(element.get("kind"), element.get("kind").capitalize())
            return f"* *{label}* " + " ".join(" ".join(self.inline(each).split()) for each in element if each.tag == "para")
        return self.inline(element)

    def of(self, member) -> str:
        """The brief and the detailed description of a member."""
        paragraphs = [self.inline(each).strip() for name in ("briefdescription", "detaileddescription") for each in member.findall(f"{name}/para")]
        return self.labelled("\n\n".join(each for each in paragraphs if each))

    @staticmethod
    def labelled(text: str) -> str:
        """Makes an item of each labelled part: `*Callers* any thread. *Memory* ...`."""
        labels = "|".join(LABELS)
        blocks = re.split(r"\n\n+", text)
        for at, block in enumerate(blocks):
            if re.search(rf"(?:^|(?<=[.:)] ))\*(?:{labels})\*", block) and not block.startswith(("```", "* ")):
                parts = [part.strip() for part in re.split(rf"(?:^|(?<=[.:)] ))(?=\*(?:{labels})\* )", block)]
                blocks[at] = "\n".join("* " + " ".join(part.split()) if part.startswith("*") else part + "\n" for part in parts if part)
        return "\n\n".join(blocks)


def name_of(member) -> str:
    """The name of a member; of an enumeration without a name its first value."""
    name = plain(member.find("name"))
    return name if not name.startswith("@") else plain(member.find("enumvalue/name"))


def template_of(member) -> str:
    parameters = member.find("templateparamlist")
    if parameters is None or not len(parameters):
        return ""
    words = []
    for each in parameters:
        word = f"{plain(each.find('type'))} {plain(each.find('declname'))}".strip()
        words.append(word + (f" = {plain(each.find('defval'))}" if each.find("defval") is not None else ""))
    text = f"template <{', '.join(words)}>\n"
    requires = plain(member.find("requiresclause"))
    return text + (f"  requires {requires}\n" if requires else "")


def wrapped(text: str, width: int = 84) -> str:
    """Breaks a long declaration behind commas of its parameters."""
    if len(text) <= width or "(" not in text:
        return text
    head, _, rest = text.partition("(")
    lines, line = [], head + "("
    for part in re.split(r"(?<=,) ", rest):
        if len(line) + len(part) > width:
            lines.append(line.rstrip())
            line = "    "
        line += part + " "
    return "\n".join([*lines, line.rstrip()])


def tidy(text: str) -> str:
    """Removes the spaces that doxygen puts into `std::vector< T >`, and adds those around a default argument."""
    text = re.sub(r"(?<=\w)< (?=\S)", "<", text)
    text = re.sub(r"(?<=\S) >(?=[ ,;)>&*(:])", ">", text) if "<" in text else text
    return re.sub(r"(?<=\w)=(?=[\w{])", " = ", text).replace("detail::type_identity_t", "std::type_identity_t")


def declaration(member) -> str:
    kind, name = member.get("kind"), name_of(member)
    type_, arguments = plain(member.find("type")), plain(member.find("argsstring"))
    value = plain(member.find("initializer"))
    if kind == "define":
        return f"#define {name}" + (f" {value}" if value else "")
    if kind == "enum":
        names = ", ".join(plain(each) for each in member.findall("enumvalue/name"))
        return wrapped(f"enum {'class ' if member.get('strong') == 'yes' else ''}{plain(member.find('name')).removeprefix('@')} {{ {names} }};")
    if kind == "typedef":
        return f"using {name} = {type_};" if not type_.startswith("struct ") else f"typedef {type_} {name};"
    if kind == "variable":
        return tidy(template_of(member) + f"{type_} {name}{arguments}{' ' + value if value else ''};")
    static = "static " if member.get("static") == "yes" else ""
    text = wrapped(f"{static}{type_} {name}{arguments}".strip())
    text = re.sub(r"\s*=\s*(delete|default|0)$", r" = \1", text)
    return tidy(template_of(member) + text + ";")


def values(text: Text, member) -> str:
    rows = [(plain(each.find("name")), text.of(each)) for each in member.findall("enumvalue")]
    return "\n".join(f"* {code(name)}" + (f": {' '.join(words.split())}" if words else "") for name, words in rows)


def anchor(page: str, name: str) -> str:
    """The label of an entry, which is unique among all pages."""
    words = name.replace("::~", "::end-").replace("::", "-")
    return f"{page}-" + re.sub(r"[^\w-]", lambda found: f"-{ord(found[0]):x}", words).lower()


class Reference:
    """The public names of the headers, read from the XML."""

    def __init__(self, xml: pathlib.Path):
        self.members = collections.defaultdict(list)  # header -> [(class or "", member)]
        self.classes = collections.defaultdict(list)  # header -> [compound]
        self.files, self.links = {}, {}
        seen = set()
        for path in sorted(xml.glob("*.xml")):
            for compound in ElementTree.parse(path).getroot().iter("compounddef"):
                self.add(compound, seen)

    @staticmethod
    def header(element) -> str:
        return element.find("location").get("file").split("include/", 1)[-1]

    def add(self, compound, seen) -> None:
        kind = compound.get("kind")
        if kind in ("dir", "page", "index") or compound.get("prot") == "private":
            return
        name = plain(compound.find("compoundname"))
        if kind == "file":
            self.files[self.header(compound)] = compound
        elif name.startswith("std"):
            return
        scope = name.removeprefix("pgas::") if kind in ("class", "struct", "union", "concept") else ""
        if scope:
            self.classes[self.header(compound)].append((scope, compound))
        inner = "" if kind != "namespace" or name == "pgas" else name.removeprefix("pgas::")
        for member in compound.iter("memberdef"):
            hidden = member.get("prot") == "private" or member.get("kind") == "friend" 
            if member.get("id") in seen or (hidden and member.get("kind") != "enum") or member.get("prot") == "private":
                continue
            seen.add(member.get("id"))
            self.members[self.header(member)].append((scope or inner, member))

    def field_of(self, header: str, scope: str, member) -> str:
        structs = [name for name, compound in self.classes[header] if compound.get("kind") == "struct"]
        return scope if scope in structs and member.get("kind") == "variable" else ""

    def headers(self) -> list[str]:
        return sorted(header for header in self.files if self.members[header] or self.classes[header])

    @staticmethod
    def page(header: str) -> str:
        return header.removeprefix("pgas/").replace("/", "-").replace(".", "-")

    def make_links(self) -> None:
        for header in sorted(self.headers(), key=lambda header: (bool(SPECIAL.search(header)), header)):
            page = self.page(header)
            for scope, compound in self.classes[header]:
                target = f"{page}.md#{anchor(page, scope)}"
                self.links[compound.get("id")] = self.links[page, scope] = target
            for scope, member in self.members[header]:
                name = name_of(member)
                full = self.field_of(header, scope, member) or (f"{scope}::{name}" if scope else name)
                target = f"{page}.md#{anchor(page, full)}"
                self.links[member.get("id")] = target
                self.links.setdefault((page, name), target)
                if not scope:
                    self.links.setdefault((kind_of(page), name), target)

    def entries(self, header: str, text: Text):
        """Returns the entries of a header in the order of their lines. The members of a class follow the class."""
        found = []
        for scope, compound in self.classes[header]:
            words = plain(compound.find("initializer")) if compound.get("kind") == "concept" else ""
            declared = words.replace("pgas::", "") + ";" if words else f"{template_of(compound)}{compound.get('kind')} {scope};"
            found.append(Entry(scope, declared, text.of(compound), int(compound.find("location").get("line"))))
        order = {scope: entry.line for (scope, _), entry in zip(self.classes[header], found)}
        keyed = [((entry.line, 0), entry) for entry in found]
        for scope, member in self.members[header]:
            name, line = name_of(member), int(member.find("location").get("line"))
            words = "\n\n".join(each for each in (text.of(member), values(text, member)) if each)
            entry = Entry(f"{scope}::{name}" if scope else name, declaration(member), words, line, self.field_of(header, scope, member))
            keyed.append(((order.get(scope, line), line), entry))
        return [entry for _, entry in sorted(keyed, key=lambda each: each[0])]

    def markdown(self, header: str) -> str:
        page = self.page(header)
        text = Text(self.links, page)
        fields: dict[str, list[Entry]] = {}
        by_name: dict[str, list[Entry]] = {}
        for entry in self.entries(header, text):
            where, name = (fields, entry.field_of) if entry.field_of else (by_name, entry.name)
            where.setdefault(name, []).append(entry)
        about = text.of(self.files[header])
        lines = [f"# {header}", "", f"```cpp\n#include <{header}>\n```", "", about, ""]
        for name, overloads in by_name.items():
            level = "###" if "::" in name and name.rpartition("::")[0] in by_name else "##"
            lines += [f"({anchor(page, name)})=", f"{level} {escaped(name)}", ""]
            for declarations, words in documented(overloads):
                lines += ["```cpp", *declarations, "```", "", words, ""]
            if fields.get(name):
                lines += [f"* {code(each.declaration.rstrip(';'))}" + (f": {' '.join(each.text.split())}" if each.text else "") for each in fields[name]] + [""]
        return "\n".join(lines)

    def write(self, where: pathlib.Path) -> None:
        where.mkdir(parents=True, exist_ok=True)
        self.make_links()
        names, groups = [], {heading: [] for heading, _ in GROUPS}
        for header in self.headers():
            (where / f"{self.page(header)}.md").write_text(self.markdown(header))
            groups[next(heading for heading, fits in GROUPS if fits(header))].append(header)
            text = Text(self.links, self.page(header))
            names += {(entry.name, header): None for entry in self.entries(header, text) if not entry.field_of}
        lines = ["# Every call", "", "Each public header has a page, which is made from the doc blocks of the header. A name has one entry with all",
                 "its overloads. [Which call do I want?](../which-call.md) lists the calls by task. The",
                 "[names](#names) at the end are in alphabetical order.", ""]
        for heading, headers in groups.items():
            lines += [f"## {heading}", ""]
            for header in headers:
                brief = Text(self.links, self.page(header)).of(self.files[header]).split("\n\n")[0]
                lines.append(f"* [{header}]({self.page(header)}.md): {brief[:1].lower() + brief[1:].rstrip('.')}")
            lines += ["", "```{toctree}", ":hidden:", "", *(f"{header} <{self.page(header)}>" for header in headers), "```", ""]
        lines += ["## Names", "", "| name | header |", "| --- | --- |"]
        for name, header in sorted(names, key=lambda each: each[0].lower()):
            lines.append(f"| [{code(name)}]({self.page(header)}.md#{anchor(self.page(header), name)}) | {code(header)} |")
        (where / "index.md").write_text("\n".join(lines) + "\n")


def documented(overloads: list[Entry]):
    """Pairs of declarations and their text. Declarations without a text belong to the text before them."""
    pairs: list[tuple[list[str], str]] = []
    for entry in overloads:
        if pairs and (not entry.text or entry.text == pairs[-1][1]):
            pairs[-1][0].append(entry.declaration)
        else:
            pairs.append(([entry.declaration], entry.text))
    return pairs

"""The pictures and pages of `pgas-perf map` are well-formed XML, whatever the names of hosts and however many PEs there are.

    pictures_are_xml.py WRITE_PICTURES
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

PROGRAM = sys.argv.pop(1)
SVG = "{http://www.w3.org/2000/svg}"


class Pictures(unittest.TestCase):
    def test_they_are_xml(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, folder], check=True, timeout=50)
            files = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual(len(files), 8)
            for file in files:
                root = ElementTree.parse(file).getroot()
                squares = [each for each in root.iter(f"{SVG}g") if each.find(f"{SVG}title") is not None]
                pes = int(file.stem)
                self.assertEqual(len(squares), 2 * pes * (pes - 1), file.name)
                tag = f"{SVG}svg" if file.suffix == ".svg" else "{http://www.w3.org/1999/xhtml}html"
                self.assertEqual(root.tag, tag)


unittest.main()

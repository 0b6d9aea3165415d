#!/usr/bin/env python3
"""Makes the documentation a site with search, which needs no server: build/site/index.html.

    build/python-env/bin/python scripts/docs_site.py [OUT]

README.md, BUILD.md and docs/, by MkDocs, with every file of the repository that they link to. A link to a
file, or to a heading, that is not there is an error.
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[([^\][]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"^(?: {4}|\t)[^\n]*|```.*?```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# In the order in which one reads them; others follow.
FIRST = (
    "README.md",
    *(f"docs/{page}.md" for page in ("python", "dependence", "command-line", "report", "api", "queries")),
)


def stage(directory: pathlib.Path) -> list[str]:
    """Copies the pages and what they link to. Returns the pages."""
    pending = [ROOT / "README.md", ROOT / "BUILD.md", *sorted((ROOT / "docs").glob("*.md"))]
    pages: list[str] = []
    seen = set(pending)
    while pending:
        page = pending.pop(0)
        text = page.read_text(encoding="utf-8")
        without_code = CODE.sub("", text)
        for title, target, anchor in LINK.findall(without_code):
            if ":" in target:
                continue
            file = (page.parent / target).resolve()
            if not file.is_relative_to(ROOT) or not file.exists():
                sys.exit(f"{page.relative_to(ROOT)}: there is no {target}")
            if file.is_dir():
                # A site has no pages for directories.
                text = text.replace(f"[{title}]({target}{anchor})", title)
            elif file not in seen and file.suffix == ".md":
                seen.add(file)
                pending.append(file)
            elif file.suffix != ".md":
                copy = directory / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
        path = directory / page.relative_to(ROOT)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        pages.append(str(page.relative_to(ROOT)))
    return sorted(pages, key=lambda page: (FIRST.index(page) if page in FIRST else len(FIRST), page))


def main(out: str = str(ROOT / "build/site")) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch) / "pages"
        config = {
            "site_name": "xla_indexing",
            "docs_dir": str(directory),
            "site_dir": str(pathlib.Path(out).resolve()),
            "use_directory_urls": False,
            "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 2},
            "nav": stage(directory),
            "validation": {"anchors": "warn", "unrecognized_links": "warn"},
        }
        # JSON is YAML.
        path = pathlib.Path(scratch) / "mkdocs.yml"
        path.write_text(json.dumps(config), encoding="utf-8")
        command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--config-file", str(path)]
        sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])

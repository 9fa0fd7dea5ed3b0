"""Makes the two font files beside this script from those of the npm package inter-ui: see README.md.

Usage: python subset.py FOLDER_OF_THE_PACKAGE
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = Path(__file__).parent

# Latin with its extension A, Greek, Cyrillic, punctuation, currencies, letter-like signs, arrows and a few signs.
CHARACTERS = [
    range(0x20, 0x7F),
    range(0xA0, 0x180),
    [0x218, 0x219, 0x21A, 0x21B, 0x2BC, 0x2C6, 0x2C7, 0x2D8, 0x2D9, 0x2DA, 0x2DB, 0x2DC, 0x2DD],
    range(0x384, 0x3CF),
    range(0x400, 0x460),
    [0x490, 0x491, 0x1E9E],
    range(0x2010, 0x2028),
    range(0x2030, 0x203B),
    [0x2044, 0x20AC, 0x2116, 0x2122],
    range(0x2190, 0x2194),
    [0x2212, 0x221E, 0x2248, 0x2260, 0x2264, 0x2265, 0x25A1, 0x25CF, 0xFFFD],
]


def with_tabular_figures(font: TTFont) -> None:
    """Figures of one width each, which Inter has as the feature `tnum`, become those that every text has."""
    gsub = font["GSUB"].table
    lookups = {
        index
        for record in gsub.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for index in record.Feature.LookupListIndex
    }
    tabular = {}
    for index in lookups:
        for table in gsub.LookupList.Lookup[index].SubTable:
            tabular.update(getattr(table, "ExtSubTable", table).mapping)
    for table in font["cmap"].tables:
        for figure in range(0x30, 0x3A):
            if figure in table.cmap:
                # Several tables may be one, which then is done already.
                table.cmap[figure] = tabular.get(table.cmap[figure], table.cmap[figure])


def main(package: Path) -> None:
    for weight in ["Regular", "SemiBold"]:
        font = TTFont(package / "web" / f"Inter-{weight}.woff2")
        with_tabular_figures(font)
        options = subset.Options()
        options.layout_features = ["ccmp", "kern"]
        options.hinting = False
        options.notdef_outline = True
        options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
        # Otherwise the file has the time of its making.
        font.recalcTimestamp = False
        font.flavor = None
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[character for part in CHARACTERS for character in part])
        subsetter.subset(font)
        font.save(HERE / f"Inter-{weight}.ttf")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

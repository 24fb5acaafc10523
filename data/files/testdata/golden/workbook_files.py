"""A workbook of two sheets by openpyxl, and the second sheet's rows as JSON lines."""

import json
import os

import openpyxl

os.chdir(os.path.dirname(os.path.abspath(__file__)))
book = openpyxl.Workbook()
book.active.title = "notes"
book.active.append(["a", "b"])
book.active.append([1, 2])
sheet = book.create_sheet("rows")
names = ["x", "code", "text", "yes", "gap"]
rows = [
    [0.5, "007", "a, \"b\"", True, 1],
    [-2, "7", "é ü", False, None],
    [1e-3, "12", "NA or not", True, 3],
]
sheet.append(names)
for row in rows:
    sheet.append(row)
book.save("sheets.xlsx")
with open("sheets.jsonl", "w", encoding="utf-8") as f:
    for row in rows:
        f.write(json.dumps({n: v for n, v in zip(names, row) if v is not None or n != "gap"}, ensure_ascii=False) + "\n")

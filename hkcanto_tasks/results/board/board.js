"use strict";
const selects = [...document.querySelectorAll("select")];

function filter() {
  const chosen = Object.fromEntries(selects.map((select) => [select.dataset.filter, select.value]));
  for (const section of document.querySelectorAll("[data-benchmark]")) {
    section.hidden = chosen.benchmark !== "" && section.dataset.benchmark !== chosen.benchmark;
  }
  for (const body of document.querySelectorAll("[data-benchmark] tbody")) {
    const [head, ...rows] = body.rows;
    for (const row of rows) {
      const facts = { ...JSON.parse(row.dataset.facts), benchmark: chosen.benchmark };
      row.hidden = Object.keys(chosen).some((name) => chosen[name] && facts[name] !== chosen[name]);
    }
    head.hidden = rows.every((row) => row.hidden);
  }
}

function sort(button) {
  const head = button.closest("th");
  const table = button.closest("table");
  const up = head.ariaSort ? head.ariaSort === "descending" : button.dataset.up === "0";
  for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
  head.ariaSort = up ? "ascending" : "descending";
  const sign = up ? 1 : -1;
  const value = (row) => Number(row.cells[button.dataset.cell].dataset.value ?? sign * Infinity);
  for (const body of table.tBodies) {
    const rows = [...body.rows].slice(1);
    rows.sort((one, other) => sign * (value(one) - value(other)) || 0);
    body.append(...rows);
  }
}

for (const select of selects) select.addEventListener("change", filter);
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => sort(button));
}
if (selects.length) filter();

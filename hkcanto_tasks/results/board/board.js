"use strict";
const select = document.querySelector("select");

function filter() {
  for (const section of document.querySelectorAll("[data-benchmark]")) {
    section.hidden = select.value !== "" && section.dataset.benchmark !== select.value;
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

for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => sort(button));
}
if (select) {
  select.addEventListener("change", filter);
  filter();
}

// The table of groups: one cell at a time is in the order of the Tab key, arrow keys move on, and a panel shows details.
"use strict";

(() => {
  const table = document.getElementById("heat");
  if (table === null) return;
  const rows = [...table.querySelectorAll("tbody tr")]
    .map((row) => [...row.querySelectorAll("td.cell")])
    .filter((cells) => cells.length > 0);
  table.setAttribute("role", "grid");
  for (const cell of table.querySelectorAll("td")) cell.setAttribute("role", "gridcell");
  rows.flat().forEach((cell) => (cell.tabIndex = -1));
  let current = rows[0][0];
  current.tabIndex = 0;

  const panel = document.getElementById("cell");
  document.getElementById("cell-close").addEventListener("click", () => {
    panel.hidden = true;
  });
  // The texts behind the cell, if the page contains texts.
  for (const button of panel.querySelectorAll("[data-cell]")) {
    button.addEventListener("click", () => {
      const { group } = current.closest("tr").querySelector("th").dataset;
      window.textsignal.showTexts({ theme: current.dataset.theme, tone: button.dataset.cell, group });
    });
  }
  const [group, link, facts] = ["cell-group", "cell-theme", "cell-facts"].map((id) => document.getElementById(id));
  function show(cell) {
    const theme = cell.dataset.theme;
    const name = link.querySelector("bdi");
    group.textContent = cell.closest("tr").querySelector("th").textContent;
    name.textContent = cell.querySelector("[data-name]").textContent;
    name.dataset.name = link.dataset.theme = theme;
    link.href = `#theme-${theme}`;
    facts.textContent = cell.title;
    panel.hidden = false;
  }
  table.addEventListener("focusin", ({ target }) => {
    if (!target.matches("td.cell")) return;
    current.tabIndex = -1;
    current = target;
    current.tabIndex = 0;
    show(current);
  });
  const last = rows[0].length - 1;
  const moves = {
    ArrowUp: (row, column) => [row - 1, column],
    ArrowDown: (row, column) => [row + 1, column],
    ArrowLeft: (row, column) => [row, column - 1],
    ArrowRight: (row, column) => [row, column + 1],
    Home: (row) => [row, 0],
    End: (row) => [row, last],
  };
  table.addEventListener("keydown", (event) => {
    if (event.key === "Escape") panel.hidden = true;
    const row = rows.findIndex((cells) => cells.includes(event.target));
    if (row < 0 || !(event.key in moves)) return;
    event.preventDefault();
    const [next, column] = moves[event.key](row, rows[row].indexOf(event.target));
    rows[next]?.[column]?.focus();
  });
})();

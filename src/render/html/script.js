
"use strict";
(() => {
  const table = document.getElementById("table");
  const source = document.getElementById("details");
  if (!table || !source) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const { agents, cases } = JSON.parse(source.textContent);

  const make = (name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const pairs = (all) => {
    const list = make("dl");
    for (const [name, text] of all) if (text) list.append(make("dt", name), make("dd", text));
    return list;
  };
  const write = (cell, row, detail) => {
    cell.append(pairs([["golden file", detail.g]]));
    for (const text of detail.l || []) cell.append(make("p", text));
    for (const [name, result, expected, got, tag, next] of detail.c || []) {
      cell.append(make("b", name + " " + result));
      cell.append(pairs([["expected", expected], ["got", got], ["likely cause", tag], ["next", next]]));
    }
    for (const [metrics, samples, expected, got] of detail.d || []) {
      cell.append(make("b", metrics));
      cell.append(pairs([["samples", samples], ["expected", expected], ["got", got]]));
    }
    for (const [name, before, now] of detail.o || []) {
      cell.append(make("b", "output " + name));
      cell.append(pairs([["base commit", before], ["now", now]]));
    }
    for (const text of detail.j || []) cell.append(make("p", text));
    if (detail.p) cell.append(make("p", detail.p[0] + (detail.p[0] === 1 ? " check passes" : " checks pass")));
    const names = agents[row.cells[0].textContent] || [];
    cell.append(pairs(names.map((name, index) => [name, (detail.v || [])[index]])));
  };
  const close = (row) => {
    if (row.opened) row.opened.remove();
    row.opened = null;
    row.button.setAttribute("aria-expanded", "false");
  };
  const toggle = (row, detail) => {
    if (row.opened) return close(row);
    const line = make("tr");
    line.className = "detail";
    const cell = line.appendChild(make("td"));
    cell.colSpan = row.cells.length;
    write(cell.appendChild(make("div")), row, detail);
    row.after(line);
    row.opened = line;
    row.button.setAttribute("aria-expanded", "true");
  };
  rows.forEach((row, index) => {
    const head = row.cells[1];
    row.name = (row.cells[0].textContent + "/" + head.textContent).toLowerCase();
    if (index >= cases.length) return;
    row.button = make("button", head.textContent);
    row.button.type = "button";
    row.button.setAttribute("aria-expanded", "false");
    row.button.addEventListener("click", () => toggle(row, cases[index]));
    head.replaceChildren(row.button);
  });

  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.forEach((row) => row.opened && close(row));
      const order = rows.map((row, index) => [row.cells[column].textContent, index]);
      order.sort(([one, i], [other, j]) => one.localeCompare(other, "en", { numeric: true }) * (down ? -1 : 1) || i - j);
      body.append(...order.map(([, index]) => rows[index]));
    });
    head.replaceChildren(button);
  });

  const form = document.querySelector(".filter");
  const filter = () => {
    const text = form.elements.text.value.toLowerCase();
    const result = form.elements.result.value;
    let count = 0;
    for (const row of rows) {
      row.hidden = !row.name.includes(text) || (result !== "" && row.cells[2].textContent !== result);
      if (row.hidden && row.opened) close(row);
      if (!row.hidden) count += 1;
    }
    form.querySelector("output").textContent = count + " of " + rows.length + " shown";
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();

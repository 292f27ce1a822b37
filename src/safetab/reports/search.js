"use strict";
/* Searches and sorts the table of totals. Before anybody types, the table is what the page was written with. */
(() => {
  const most = 200;
  const { levels, regions, groups, rows } = JSON.parse(document.getElementById("totals-data").textContent);
  const table = document.getElementById("totals");
  const body = table.tBodies[0];
  const words = document.getElementById("words");
  const chosen = document.getElementById("level");
  const shown = document.getElementById("shown");
  const number = new Intl.NumberFormat("en-US");
  /* By level, region and group, not by row: a row has no text of its own, so that a nation's rows fit into memory. */
  const texts = [levels, regions, groups.map((group) => group.join(" "))].map((names) => names.map((name) => name.toLowerCase()));
  /* The place of each name in their order, equal names together: millions of rows are sorted by numbers. */
  const places = (names) => {
    const { compare } = new Intl.Collator();
    const inOrder = [...names.keys()].sort((one, other) => compare(names[one], names[other]));
    const found = [];
    inOrder.forEach((name, place) => {
      const before = inOrder[place - 1];
      found[name] = place && compare(names[before], names[name]) === 0 ? found[before] : place;
    });
    return found;
  };
  const named = [[0, levels], [1, regions], [2, groups.map((group) => group[1])], [2, groups.map((group) => group[0])]];
  const keys = [];
  const keyOf = (column) => {
    if (!keys[column]) {
      const [part, names] = named[column] || [];
      const place = names && places(names);
      keys[column] = place ? (row) => place[row[part]] : (row) => row[column - 1];
    }
    return keys[column];
  };
  let order = null;

  const cell = (line, text, isName) => {
    const made = line.insertCell();
    made.textContent = text;
    if (isName) made.className = "name";
  };

  const show = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const level = chosen.value === "" ? null : Number(chosen.value);
    const wanted = asked.map((word) => texts.map((names) => names.map((name) => name.includes(word))));
    const found = rows.filter((row) => (level === null || row[0] === level)
      && wanted.every(([byLevel, byRegion, byGroup]) => byLevel[row[0]] || byRegion[row[1]] || byGroup[row[2]]));
    if (order) {
      const key = keyOf(order.column);
      found.sort((one, other) => order.sign * (key(one) - key(other)));
    }
    body.replaceChildren();
    for (const row of found.slice(0, most)) {
      const line = body.insertRow();
      const [code, name] = groups[row[2]];
      [levels[row[0]], regions[row[1]], name, code].forEach((text) => cell(line, text, true));
      [row[3], row[4], row[5], row[6]].forEach((value) => cell(line, number.format(value), false));
    }
    const few = Math.min(found.length, most);
    shown.textContent = `${number.format(few)} of ${number.format(found.length)} totals that match are shown.`;
  };

  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.dataset.words = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const isSame = order && order.column === column;
      order = { column, sign: isSame ? -order.sign : column < 4 ? 1 : -1 };
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      show();
    });
  });
  words.addEventListener("input", show);
  chosen.addEventListener("input", show);
  document.getElementById("search").hidden = false;
})();

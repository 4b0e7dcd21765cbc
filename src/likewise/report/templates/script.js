"use strict";
document.documentElement.classList.add("scripted");

// Sorting: a click on a heading orders the rows; undefined values stay last. By a measure that does not treat
// generators and new models alike (data-apart) each of these groups is ordered by itself.
function valueOf(row, column) {
  return row.querySelectorAll("[data-value]")[column].dataset.value;
}
function compare(a, b, kind, direction) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return direction * (kind === "number" ? Number(a) - Number(b) : a.localeCompare(b));
}
function sortTable(table, heading, direction) {
  const headings = [...table.querySelectorAll("th[data-sort]")];
  const column = headings.indexOf(heading);
  headings.forEach((one) => one.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => row.querySelector("[data-value]"));
    const apart = (row) => ("apart" in heading.dataset ? row.dataset.group || "" : "");
    rows.sort(
      (a, b) =>
        apart(a).localeCompare(apart(b)) ||
        compare(valueOf(a, column), valueOf(b, column), heading.dataset.sort, direction),
    );
    rows.forEach((row, place) => row.classList.toggle("apart", place > 0 && apart(row) !== apart(rows[place - 1])));
    body.append(...rows);
  }
}
for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.querySelectorAll("th[data-sort]")) {
    heading.querySelector("button").addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const first = heading.dataset.sort === "number" ? -1 : 1;
      const direction = before === null ? first : before === "ascending" ? -1 : 1;
      sortTable(table, heading, direction);
    });
  }
}

// Both groups of the leaderboard in one list, and apart again.
const together = document.getElementById("leaderboard-together");
if (together) {
  const table = document.getElementById("leaderboard-table");
  const arrange = () => {
    const bodies = [...table.tBodies];
    for (const row of table.querySelectorAll("tr[data-encoder]")) {
      const home = bodies.find((body) => body.dataset.group === row.dataset.group);
      (together.checked ? bodies[0] : home).append(row);
    }
    table.querySelectorAll("tr.group").forEach((row) => (row.hidden = together.checked));
    const heading = table.querySelector("th[aria-sort]");
    sortTable(table, heading, heading.getAttribute("aria-sort") === "ascending" ? 1 : -1);
  };
  together.addEventListener("change", arrange);
  if (together.checked) arrange();
}

// Tabs: one model's mistakes at a time; arrow keys move between them.
const tabs = [...document.querySelectorAll("[role=tab]")];
function choose(tab, focus) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", String(chosen));
    one.tabIndex = chosen ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (focus) tab.focus();
}
tabs.forEach((tab, place) => {
  tab.addEventListener("click", () => choose(tab, false));
  tab.addEventListener("keydown", (event) => {
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(tabs[(next + tabs.length) % tabs.length], true);
  });
});
if (tabs.length) choose(tabs[0], false);

// The contents follow the reader: the section at the top of the window is marked.
const contents = [...document.querySelectorAll("nav.contents a")];
const places = contents.map((link) => document.querySelector(link.getAttribute("href")));
function follow() {
  const bottom = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
  const reached = contents[0].parentElement.offsetHeight + 24; // a section jumped to is just under the contents
  const passed = places.filter((place) => place && place.getBoundingClientRect().top < reached);
  const here = bottom ? places.at(-1) : passed.at(-1);
  contents.forEach((link, place) => {
    if (places[place] !== here) return link.removeAttribute("aria-current");
    if (link.hasAttribute("aria-current")) return;
    link.setAttribute("aria-current", "true");
    const bar = link.parentElement;
    bar.scrollLeft = link.offsetLeft - bar.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
  });
}
if (contents.length) {
  document.addEventListener("scroll", follow, { passive: true });
  follow();
}

// Where the site serves this page, every picture opens in the site's explore view.
const explore = document.documentElement.dataset.explore;
function exploring(picture, ...content) {
  const link = document.createElement("a");
  const encoder = picture.closest("[data-encoder]")?.dataset.encoder;
  link.href = `${explore}?${new URLSearchParams({ image: picture.dataset.image, ...(encoder ? { with: encoder } : {}) })}`;
  link.className = "explore";
  link.append(...content);
  return link;
}
if (explore) {
  for (const picture of document.querySelectorAll("svg.picture[data-image]")) {
    const button = picture.closest("button");
    if (!button) {
      picture.replaceWith(exploring(picture, picture.cloneNode(true)));
    } else if (picture === button.querySelector("svg.picture")) {
      const link = exploring(picture, "explore ↗");
      link.setAttribute("aria-label", `Explore ${picture.getAttribute("aria-label")}`);
      button.after(link);
    }
  }
}

// Zoom: a candidate beside its query, as large as the thumbnail allows.
const dialog = document.getElementById("zoom");
function named(picture, original) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = picture.getAttribute("aria-label");
  figure.append(explore ? exploring(original, picture) : picture, caption);
  return figure;
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.zoom");
  if (button) {
    const pictures = [...button.querySelectorAll("svg.picture")];
    if (pictures.length === 1) pictures.unshift(button.closest(".query").querySelector(".asked svg.picture"));
    document.getElementById("zoom-pictures").replaceChildren(...pictures.map((one) => named(one.cloneNode(true), one)));
    const said = [...button.parentElement.querySelectorAll(":scope > span")].map((one) => one.textContent.trim());
    document.getElementById("zoom-text").textContent = said.join(" · ");
    dialog.showModal();
  } else if (event.target === dialog) {
    dialog.close();
  }
});

"use strict";
// Answers are kept in this browser as they are given, and saved as a CSV that `likewise label import` reads.
const { expert, pairs } = JSON.parse(document.getElementById("questions").textContent);
const key = "likewise-sheet-" + expert + "-" + pairs.length + "-" + (pairs.length ? pairs[0].query + pairs[0].candidate : "");
const at = (id) => document.getElementById(id);
let answers = {};
try { answers = JSON.parse(localStorage.getItem(key)) || {}; } catch { answers = {}; }
let saved = Object.keys(answers).length === 0;
let current = Math.max(0, pairs.findIndex((_, index) => !(index in answers)));

function show() {
  const pair = pairs[current];
  at("number").textContent = current + 1;
  for (const side of ["query", "candidate"]) {
    const symbol = document.getElementById(pair[side + "_picture"]);
    at(side).setAttribute("viewBox", symbol.getAttribute("viewBox"));
    at(side).querySelector("use").setAttribute("href", "#" + pair[side + "_picture"]);
  }
  for (const button of document.querySelectorAll("[data-answer]")) {
    button.setAttribute("aria-pressed", answers[current] === button.dataset.answer);
  }
  const done = Object.keys(answers).length;
  at("progress").value = done;
  at("state").textContent = done === pairs.length
    ? (saved ? "All pairs are answered and saved. Thank you!" : "All pairs are answered: save them, and send the file back.")
    : done + " of " + pairs.length + " answered" + (saved && done ? ", saved." : ".");
}

function answer(text) {
  answers[current] = text;
  saved = false;
  try { localStorage.setItem(key, JSON.stringify(answers)); } catch { /* a browser without storage: saving still works */ }
  move(1);
}

function move(step) {
  current = Math.min(pairs.length - 1, Math.max(0, current + step));
  show();
}

function cell(text) {
  const inert = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\n]/.test(inert) ? '"' + inert.replaceAll('"', '""') + '"' : inert;
}

function save() {
  const rows = Object.entries(answers).map(([index, text]) => [pairs[index].query, pairs[index].candidate, expert, pairs[index].question, text]);
  const text = [["query", "candidate", "expert", "question", "answer"], ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = expert.replace(/[^\p{L}\p{N}_-]+/gu, "_") + ".csv";
  link.click();
  URL.revokeObjectURL(link.href);
  saved = true;
  show();
}

for (const button of document.querySelectorAll("[data-answer]")) {
  button.addEventListener("click", () => answer(button.dataset.answer));
}
at("back").addEventListener("click", () => move(-1));
at("forward").addEventListener("click", () => move(1));
at("save").addEventListener("click", save);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { f: () => answer("similar"), j: () => answer("not similar"), u: () => answer("cannot tell"), arrowleft: () => move(-1), arrowright: () => move(1) }[event.key.toLowerCase()];
  if (act) { event.preventDefault(); act(); }
});
window.addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
show();

// Grid mode: one query with all its candidates; mark the similar ones, one key submits the page.

import { ask } from "./outbox.js";
import { acrossTabs, boot, byId, Clock, element, History, isOurs, Keys, load, nameOf, NOTHING_YET, outboxOf, painted, panel, say, showProgress, zoom } from "./shared.js";

const TOO_SOON_MS = 800; // nobody reads a page of pictures faster: this was the second half of a double press
const SMALLEST_PX = 104;
const RETRY_MS = 5000;
const PAUSED_MS = 30000;
const ACTIONS = {
  submit: { key: "Enter", label: "Submit the page" },
  "cannot tell": { key: "u", label: "Cannot tell (the picture in focus)" },
  later: { key: "l", label: "Later (the picture in focus)" },
  undo: { key: "z", label: "Undo the last page" },
  zoom: { key: "e", label: "Enlarge the picture in focus" },
};
const MARK_KEYS = "1234567890qwertyiopasdfghjkxcvbnm";

const clock = new Clock();
const history = new History("grid");
const outbox = outboxOf("answers", "/answers");
let page = null; // what is on the screen: { query, candidates: [{ pair, candidate, mark, image, button }] }
let coming = null; // the page after it, its pictures on the way
let answerable = false;
let fetching = false;
let wakeUp = 0;
let progress = null;
let focused = 0; // the candidate that arrows move and U, L, E mean

const tellTabs = acrossTabs("answers", (pairs) => leaveOut(pairs));
const keys = new Keys(ACTIONS, () => printKeys());

// ------------------------------------------------------------------------------------------------------------- the pages

/** Nothing on the screen can be answered now; the page names the pairs only while it can. */
function notYet() {
  answerable = false;
  delete byId("main").dataset.pairs;
}

function prepared(given) {
  const candidates = given.candidates.map((one) => ({ ...one, mark: one.mark ?? "not similar" }));
  const made = { query: given.query, candidates };
  const pictures = candidates.map(async (one) => {
    try {
      one.image = await load(one.candidate, "");
    } catch {
      one.image = null; // shown as missing, and asked again later
    }
  });
  const query = load(given.query, "Query").then((image) => (made.image = image));
  made.ready = Promise.all([query, ...pictures]);
  made.ready.catch(() => {});
  return made;
}

const pairsOf = (one) => (one ? one.candidates.map((candidate) => candidate.pair) : []);
const held = () => new Set([...outbox.waiting.map((one) => one.event.pair), ...pairsOf(page), ...pairsOf(coming)]);

async function fill() {
  if (fetching || coming || (page && !navigator.onLine)) return;
  fetching = true;
  try {
    if (outbox.size && !outbox.problem) await outbox.flush();
    const skip = [...held()].slice(0, 500);
    const reply = await ask(`${boot.api}/grid${skip.length ? `?skip=${skip.join(",")}` : ""}`);
    setProgress(reply.progress);
    const known = held();
    const candidates = reply.candidates.filter((one) => !known.has(one.pair));
    if (reply.query && candidates.length) coming = prepared({ query: reply.query, candidates });
    if (page) return;
    if (coming) next();
    else if (reply.paused) sleep("paused", "The owner has paused this project. Everything you answered is stored; this page continues by itself when work resumes.", PAUSED_MS, ["Check again", wake]);
    else if (outbox.size) sleep("waiting", "Waiting until your last answers are stored…", RETRY_MS);
    else if (!reply.progress.total) sleep("empty", NOTHING_YET, PAUSED_MS, ["Check again", wake]);
    else finish();
  } catch (problem) {
    if (!page) lost(problem);
  } finally {
    fetching = false;
  }
}

/** Go on: with what is here, or with what the server has. */
const wake = () => (!page && coming ? next() : fill());

function sleep(state, text, milliseconds, ...buttons) {
  hideBoard();
  panel(state, text, ...buttons);
  clearTimeout(wakeUp);
  wakeUp = setTimeout(wake, milliseconds);
}

function lost(problem) {
  if (problem.kind === "session") return sleep("signed-out", `Your session has ended (${problem.message}). Open your invitation link again; answers not yet sent are kept in this browser.`, PAUSED_MS, ["Try again", wake]);
  return sleep("offline", "No connection, and no more pages are here. Your answers are kept in this browser and will be sent. Trying again…", RETRY_MS, ["Try now", wake]);
}

function finish() {
  hideBoard();
  panel("done", "That was the last page. Everything is stored. Thank you! You can close this page, or take back the last page with undo.", ["Done", "/done"]);
  byId("tools").hidden = false;
  showUndo();
  say("All pairs are answered.");
}

/** Another tab answered these. */
function leaveOut(pairs) {
  for (const one of [page, coming]) if (one) one.candidates = one.candidates.filter((candidate) => !pairs.has(candidate.pair));
  if (coming?.candidates.length === 0) coming = null;
  if (page?.candidates.length === 0) next();
  else if (page && !byId("board").hidden) draw();
  fill();
}

function hideBoard() {
  page = null;
  notYet();
  clock.stop();
  byId("board").hidden = byId("tools").hidden = true;
}

function next() {
  page = coming;
  coming = null;
  if (page) return show(page);
  hideBoard();
  panel("loading", "Loading the pictures…");
  return fill();
}

async function show(shown) {
  notYet();
  clock.stop();
  const slow = setTimeout(() => shown === page && ((byId("board").hidden = true), panel("loading", "Loading the pictures…")), 150);
  try {
    await shown.ready;
  } catch (error) {
    clearTimeout(slow);
    if (shown !== page) return;
    coming = prepared(shown);
    lost(error);
    return;
  }
  clearTimeout(slow);
  if (shown !== page) return;
  for (const one of shown.candidates) if (!one.image) one.mark = "later";
  focused = 0;
  draw();
  panel("showing");
  byId("board").hidden = byId("tools").hidden = false;
  fit();
  scrollTo(0, 0);
  showUndo();
  say(`New query with ${shown.candidates.length} candidates.`);
  await painted();
  if (shown !== page) return;
  clock.start();
  answerable = true;
  byId("main").dataset.pairs = pairsOf(page).join(",");
  fill();
}

// ------------------------------------------------------------------------------------------------------------- marking

function draw() {
  byId("query").replaceChildren(page.image);
  const items = page.candidates.map((one, place) => {
    const face = one.image ?? element("span", { className: "missing" }, "This picture cannot be loaded; it will be asked again later.");
    one.key = element("kbd");
    one.word = element("span", { className: "mark-word" });
    one.button = element("button", { type: "button", className: "candidate", disabled: !one.image }, face, element("span", { className: "mark" }, one.key, one.word));
    one.button.addEventListener("click", () => {
      focus(place);
      mark(place, one.mark === "similar" ? "not similar" : "similar");
    });
    return element("li", {}, one.button);
  });
  byId("candidates").replaceChildren(...items);
  page.candidates.forEach((_, place) => paint(place));
  printKeys();
  focus(Math.min(focused, page.candidates.length - 1), false);
}

/** As large as the pictures can be with the whole page in the window; below SMALLEST_PX they are left to scroll. */
function fit() {
  const list = byId("candidates");
  const [width, gap, caption] = [list.clientWidth, 10, 40];
  const height = innerHeight - list.getBoundingClientRect().top - scrollY - byId("tools").offsetHeight;
  const sizeOf = (columns) => (width - gap * (columns - 1)) / columns;
  const most = Math.max(2, Math.floor((width + gap) / (SMALLEST_PX + gap)));
  let columns = Math.min(2, most);
  while (columns < most && Math.ceil(page.candidates.length / columns) * (sizeOf(columns) + caption + gap) > height) columns += 1;
  list.style.setProperty("--columns", columns);
}

function paint(place) {
  const { button, mark: value, word } = page.candidates[place];
  button.dataset.mark = value;
  button.setAttribute("aria-pressed", String(value === "similar"));
  button.setAttribute("aria-label", `Candidate ${place + 1}: ${value}`);
  word.textContent = value === "not similar" ? "" : value;
  const n = page.candidates.filter((one) => one.mark === "similar").length;
  const submit = document.querySelector('[data-action="submit"]');
  submit.firstChild.textContent = n ? `Submit, ${n} similar` : "Submit, none similar";
}

function mark(place, value) {
  const one = page.candidates[place];
  if (!one?.image || !answerable) return;
  one.mark = value;
  paint(place);
  say(`Candidate ${place + 1}: ${value}.`);
}

function focus(place, move = true) {
  focused = place;
  page.candidates.forEach((one, other) => (one.button.tabIndex = other === place ? 0 : -1));
  if (move) page.candidates[place]?.button.focus();
}

function printKeys() {
  keys.label(document.querySelectorAll("[data-action]"));
  if (!page) return;
  const free = markKeys();
  page.candidates.forEach((one, place) => (one.key.textContent = (free[place] ?? "").toUpperCase()));
}
const markKeys = () => [...MARK_KEYS].filter((key) => !keys.used.has(key));

/** The candidate one row up or down, by where the pictures really are. */
function vertical(step) {
  const buttons = page.candidates.map((one) => one.button.getBoundingClientRect());
  const here = buttons[focused];
  const rows = buttons.map((box, place) => ({ place, box })).filter(({ box }) => (step > 0 ? box.top > here.top + 2 : box.top < here.top - 2));
  if (!rows.length) return focused;
  const near = step > 0 ? Math.min(...rows.map(({ box }) => box.top)) : Math.max(...rows.map(({ box }) => box.top));
  const row = rows.filter(({ box }) => Math.abs(box.top - near) < 2);
  return row.reduce((best, one) => (Math.abs(one.box.left - here.left) < Math.abs(best.box.left - here.left) ? one : best)).place;
}

function arrow(key) {
  const last = page.candidates.length - 1;
  if (key === "ArrowLeft") return Math.max(0, focused - 1);
  if (key === "ArrowRight") return Math.min(last, focused + 1);
  if (key === "Home") return 0;
  if (key === "End") return last;
  return vertical(key === "ArrowDown" ? 1 : -1);
}

// ------------------------------------------------------------------------------------------------------------- answers

function submit() {
  if (!answerable || !page || clock.milliseconds < TOO_SOON_MS) return;
  notYet();
  const each = Math.round(clock.milliseconds / page.candidates.length); // one page, many pairs: its time in equal shares
  const given = page.candidates.map((one) => ({ pair: one.pair, answer: one.mark, reason: null, milliseconds: each }));
  outbox.add(...given);
  history.push({ query: page.query, candidates: page.candidates.map(({ pair, candidate, mark: value }) => ({ pair, candidate, mark: value })) });
  tellTabs(pairsOf(page));
  say(`Submitted: ${given.filter((one) => one.answer === "similar").length} similar of ${given.length}.`);
  closeZoom();
  next();
}

function undo() {
  const last = history.pop();
  if (!last) return;
  outbox.add(...last.candidates.map((one) => ({ pair: one.pair, answer: "undo", reason: null, milliseconds: 0 })));
  const again = new Set(pairsOf(last));
  if (page) coming = page;
  if (coming) coming.candidates = coming.candidates.filter((one) => !again.has(one.pair));
  if (coming?.candidates.length === 0) coming = null;
  clearTimeout(wakeUp);
  closeZoom();
  page = prepared(last);
  say("The last page is taken back.");
  show(page);
}

function showUndo() {
  const { last } = history;
  document.querySelector('[data-action="undo"]').disabled = !last;
  const n = last?.candidates.filter((one) => one.mark === "similar").length;
  byId("last").textContent = last ? `Last page: ${n} of ${last.candidates.length} similar` : "";
}

function setProgress(given) {
  progress = given ?? progress;
  if (!progress) return;
  const byPair = new Map(outbox.waiting.map((one) => [one.event.pair, one.event.answer]));
  showProgress(progress, [...byPair.values()].filter((one) => one !== "later" && one !== "undo").length);
}
outbox.addEventListener("progress", (event) => setProgress(event.detail));
outbox.addEventListener("change", () => setProgress());
addEventListener("online", () => !page && wake());

// ----------------------------------------------------------------------------------------------------------- the wiring

const closeZoom = () => byId("zoom").open && byId("zoom").close();
function toggleZoom(withCandidate = true) {
  if (byId("zoom").open) return closeZoom();
  if (!page) return undefined;
  const shown = [{ picture: page.query, name: "Query" }];
  if (withCandidate) shown.push({ picture: page.candidates[focused].candidate, name: `Candidate ${focused + 1}` });
  return zoom(shown);
}
const toggleMark = (value) => page && mark(focused, page.candidates[focused].mark === value ? "not similar" : value);

function act(action) {
  if (action === "submit") submit();
  else if (action === "undo") undo();
  else if (action === "zoom") toggleZoom();
  else toggleMark(action);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button) act(button.dataset.action);
  else if (event.target.closest("#query")) toggleZoom(false);
});
document.addEventListener("keydown", (event) => {
  if (!isOurs(event) || byId("keys-dialog").open) return;
  // Enter and Space on a link or another button keep their meaning; on a candidate, Enter submits and Space marks.
  const elsewhere = event.target instanceof Element && event.target.closest("a, button:not(.candidate), summary");
  if (elsewhere && (event.key === "Enter" || event.key === " ")) return;
  const action = keys.actionOf(event);
  if (action) {
    event.preventDefault();
    act(action);
  } else if (page && answerable && !byId("zoom").open && (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End")) {
    event.preventDefault();
    focus(event.target.closest?.(".candidate") ? arrow(event.key) : focused); // the first arrow only shows where we are
  } else if (page && answerable) {
    const place = markKeys().indexOf(nameOf(event));
    if (place < 0 || place >= page.candidates.length) return;
    event.preventDefault();
    page.candidates[place].button.click();
  }
});
addEventListener("resize", () => page && !byId("board").hidden && fit());
byId("keys-dialog").addEventListener("close", () => clock.resume());
byId("keys-open").addEventListener("click", () => clock.pause());

keys.onChange();
fill();

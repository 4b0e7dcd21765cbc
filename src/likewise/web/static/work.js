// Pair mode and practice: two pictures, one key, the next two.

import { ask } from "./outbox.js";
import { acrossTabs, boot, byId, Clock, History, isOurs, Keys, load, NOTHING_YET, outboxOf, painted, panel, say, showProgress, zoom } from "./shared.js";

const AHEAD = 12; // pairs held ready, so that a dropped network is not noticed for a while
const TOO_SOON_MS = 250; // nobody judges a pair faster: this was the second half of a double press
const DOUBLE_CLICK_MS = 500;
const RETRY_MS = 5000;
const PAUSED_MS = 30000;
const REASONS = ["A picture is unclear", "They are not comparable", "Similar in one way, different in another", "I do not know this kind of thing"];
const YES_OR_NO = { similar: { key: "f", label: "Similar" }, "not similar": { key: "j", label: "Not similar" } };
const GRADES = {
  exact: { key: "1", label: "Exact" },
  similar: { key: "2", label: "Similar" },
  substitute: { key: "3", label: "Substitute" },
  different: { key: "4", label: "Different" },
};
const JUDGEMENTS = boot.graded ? GRADES : YES_OR_NO;
const ACTIONS = {
  ...JUDGEMENTS,
  "cannot tell": { key: "u", label: "Cannot tell" },
  reason: { key: "r", label: "Cannot tell, because…" },
  later: { key: "l", label: "Later" },
  undo: { key: "z", label: "Undo" },
  zoom: { key: "e", label: "Enlarge" },
};
const ANSWERS = new Set([...Object.keys(JUDGEMENTS), "cannot tell", "later"]);
const practising = boot.mode === "practice";

const clock = new Clock();
const history = new History("pair");
const outbox = outboxOf("answers", "/answers");
const queue = []; // pairs to come, their pictures on the way: { pair, query, candidate, ready }
let current = null; // the pair on the screen
let answerable = false; // true from the moment both pictures are visible until the answer
let fetching = false;
let wakeUp = 0;
let progress = null;
let judged = null; // in practice: the answer is on the screen, waiting to be read

const tellTabs = practising ? () => {} : acrossTabs("answers", (pairs) => leaveOut(pairs));
const keys = new Keys(ACTIONS, () => keys.label(document.querySelectorAll("[data-action]")));
keys.onChange();

// ------------------------------------------------------------------------------------------------------------ the queue

/** Nothing on the screen can be answered now; the page names the pair only while it can. */
function notYet() {
  answerable = false;
  delete byId("main").dataset.pair;
}

function prepared(pair) {
  const ready = Promise.all([load(pair.query, "Query"), load(pair.candidate, "Candidate")]);
  const one = { ...pair, ready, failed: false };
  ready.catch(() => (one.failed = true));
  return one;
}

function held() {
  const waiting = outbox.waiting.map((one) => one.event.pair);
  return new Set([...waiting, ...queue.map((one) => one.pair), ...(current ? [current.pair] : [])]);
}

/** Fetch pairs until enough are ready; says whether the server had any. */
async function fill() {
  if (fetching || practising || queue.length > AHEAD / 2 || (current && !navigator.onLine)) return;
  fetching = true;
  try {
    if (outbox.size && !outbox.problem) await outbox.flush(); // what is stored need not be left out by name
    const skip = [...held()].slice(0, 500);
    const reply = await ask(`${boot.api}/next?count=${AHEAD}&mode=pair${skip.length ? `&skip=${skip.join(",")}` : ""}`);
    setProgress(reply.progress);
    const known = held();
    queue.push(...reply.pairs.filter((pair) => !known.has(pair.pair)).map(prepared));
    if (current) return;
    if (queue.length) next();
    else if (reply.paused) rest();
    else if (outbox.size) sleep("waiting", "Waiting until your last answers are stored…", RETRY_MS);
    else if (!reply.progress.total) sleep("empty", NOTHING_YET, PAUSED_MS, ["Check again", wake]);
    else finish();
  } catch (problem) {
    if (!current) lost(problem);
  } finally {
    fetching = false;
  }
}

/** Go on: with what is here, or with what the server has. */
const wake = () => (!current && queue.length ? next() : fill());

function sleep(state, text, milliseconds, ...buttons) {
  hideStage();
  panel(state, text, ...buttons);
  clearTimeout(wakeUp);
  wakeUp = setTimeout(wake, milliseconds);
}
const rest = () => sleep("paused", "The owner has paused this project. Everything you answered is stored; this page continues by itself when work resumes.", PAUSED_MS, ["Check again", wake]);

function lost(problem) {
  if (problem.kind === "session") return sleep("signed-out", `Your session has ended (${problem.message}). Open your invitation link again; answers not yet sent are kept in this browser.`, PAUSED_MS, ["Try again", wake]);
  return sleep("offline", "No connection, and no more pairs are here. Your answers are kept in this browser and will be sent. Trying again…", RETRY_MS, ["Try now", wake]);
}

function finish() {
  hideStage();
  panel("done", "That was the last pair. Everything is stored. Thank you! You can close this page, or take back your last answers with undo.", ["Done", "/done"]);
  byId("tools").hidden = false;
  showUndo();
  say("All pairs are answered.");
}

/** Another tab answered these. */
function leaveOut(pairs) {
  for (let place = queue.length - 1; place >= 0; place -= 1) if (pairs.has(queue[place].pair)) queue.splice(place, 1);
  if (current && pairs.has(current.pair)) {
    say("This pair was answered in another tab.");
    next();
  }
  fill();
}

// ------------------------------------------------------------------------------------------------------------ the stage

function hideStage() {
  current = null;
  notYet();
  clock.stop();
  for (const id of ["stage", "answers", "reason", "tools", "feedback"]) byId(id).hidden = true;
}

async function next() {
  notYet();
  clock.stop();
  const place = queue.findIndex((one) => !one.failed);
  current = queue.splice(Math.max(0, place), 1)[0] ?? null;
  if (!current) {
    if (practising) return finishPractice();
    hideStage();
    panel("loading", "Loading the pictures…");
    return fill();
  }
  fill();
  await show(current);
}

async function show(pair) {
  let pictures;
  if (pair.failed) Object.assign(pair, prepared(pair)); // it had its tries while waiting in the queue; it gets new ones now
  const slow = setTimeout(() => pair === current && (hideSoftly(), panel("loading", "Loading the pictures…")), 150);
  try {
    pictures = await pair.ready;
  } catch {
    clearTimeout(slow);
    if (pair === current) broken(pair);
    return;
  }
  clearTimeout(slow);
  if (pair !== current) return;
  byId("query").replaceChildren(pictures[0]);
  byId("candidate").replaceChildren(pictures[1]);
  for (const side of ["query", "candidate"]) {
    const player = byId(`${side}-sound`); // only where the catalog is of sounds
    if (player) player.src = pair[side].full;
  }
  panel("showing");
  for (const id of ["stage", "answers", "tools"]) byId(id).hidden = false;
  for (const id of ["reason", "feedback"]) byId(id).hidden = true;
  showUndo();
  await painted();
  if (pair !== current) return;
  clock.start();
  answerable = true;
  byId("main").dataset.pair = pair.pair ?? "practice";
}

const hideSoftly = () => ["stage", "answers", "reason"].forEach((id) => (byId(id).hidden = true));

/** A picture cannot be had. Without a network wait for it; with one, the pair can be put off or given up. */
async function broken(pair) {
  hideStage();
  current = pair;
  pair.failed = true;
  const once = (act) => () => (panel("loading", "Loading the pictures…"), act()); // a second press must not meet the next pair
  if (practising) return panel("broken", "A picture of this pair cannot be loaded.", ["Next", once(next)]);
  try {
    await ask(`${boot.api}/next?count=1&mode=pair`);
  } catch (problem) {
    if (pair !== current) return undefined;
    current = null;
    queue.unshift(pair);
    return lost(problem);
  }
  if (pair !== current) return undefined;
  const give = (answer, reason) => once(() => send(answer, reason, null));
  const retry = ["Try again", once(() => show(pair))];
  return panel("broken", "A picture of this pair cannot be loaded.", retry, ["Later", give("later", null)], ["Cannot tell", give("cannot tell", "a picture could not be loaded")]);
}

// -------------------------------------------------------------------------------------------------------------- answers

function answer(given, reason = null) {
  if (!answerable || !current || clock.milliseconds < TOO_SOON_MS) return;
  notYet();
  flash(given);
  if (practising) judge(given);
  else send(given, reason, clock.milliseconds);
}

function send(given, reason, milliseconds) {
  const { pair, query, candidate } = current;
  outbox.add({ pair, answer: given, reason, milliseconds });
  history.push({ pair, query, candidate, answer: given });
  tellTabs([pair]);
  say(`${given}. Next pair.`);
  closeZoom();
  next();
}

function undo() {
  const last = history.pop();
  if (!last) return;
  outbox.add({ pair: last.pair, answer: "undo", reason: null, milliseconds: 0 });
  if (current) queue.unshift(current);
  for (let place = queue.length - 1; place >= 0; place -= 1) if (queue[place].pair === last.pair) queue.splice(place, 1);
  clearTimeout(wakeUp);
  closeZoom();
  current = prepared({ pair: last.pair, query: last.query, candidate: last.candidate });
  say(`Taken back: ${last.answer}.`);
  show(current);
}

function flash(given) {
  const button = document.querySelector(`[data-action="${given}"]`);
  button.classList.add("pressed");
  setTimeout(() => button.classList.remove("pressed"), 180);
}

function showUndo() {
  const { last } = history;
  document.querySelector('[data-action="undo"]').disabled = practising || !last;
  byId("last").textContent = last && !practising ? `Last answer: ${last.answer}` : "";
}

function setProgress(given) {
  progress = given ?? progress;
  if (!progress) return;
  const byPair = new Map(outbox.waiting.map((one) => [one.event.pair, one.event.answer]));
  const onTheirWay = [...byPair.values()].filter((one) => one !== "later" && one !== "undo").length;
  showProgress(progress, onTheirWay);
}
outbox.addEventListener("progress", (event) => setProgress(event.detail));
outbox.addEventListener("change", () => setProgress());
addEventListener("online", () => !current && wake());

// ------------------------------------------------------------------------------------------------- cannot tell, because

byId("reason-ready").append(
  ...REASONS.map((text, place) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", onclick: () => giveReason(text) });
    button.append(text, " ", Object.assign(document.createElement("kbd"), { textContent: place + 1 }));
    return button;
  }),
);

let cameFrom = null;
function openReason() {
  if (!answerable || practising) return;
  cameFrom = document.activeElement;
  byId("answers").hidden = true;
  byId("reason").hidden = false;
  byId("reason-text").value = "";
  byId("reason-text").focus();
}
function closeReason() {
  if (byId("reason").hidden) return;
  byId("reason").hidden = true;
  byId("answers").hidden = false;
  document.activeElement.blur(); // a key opened it from nowhere: then the focus goes back to nowhere
  cameFrom?.focus();
}
function giveReason(text) {
  const given = text.trim();
  closeReason();
  answer("cannot tell", given === "" ? null : given.slice(0, 300));
}
byId("reason").addEventListener("submit", (event) => {
  event.preventDefault();
  giveReason(byId("reason-text").value);
});
byId("reason-back").addEventListener("click", closeReason);
byId("reason").addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeReason();
  // A number picks a ready reason as long as nothing is written.
  const ready = /^[1-9]$/.test(event.key) && byId("reason-text").value === "" ? REASONS[Number(event.key) - 1] : undefined;
  if (!ready || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  event.preventDefault();
  giveReason(ready);
});

// ------------------------------------------------------------------------------------------------------------- practice

function judge(given) {
  judged = current;
  clock.stop();
  const right = given === judged.answer;
  const verdict = given === "cannot tell" || given === "later" ? "The owner's answer:" : right ? "The owner agrees:" : "The owner sees it differently:";
  const words = [`${verdict} ${judged.answer}.`, judged.note].filter(Boolean).join(" ");
  const go = Object.assign(document.createElement("button"), { type: "button", className: "strong", onclick: goOn });
  go.append(queue.length ? "Next" : "Finish the practice", " ", Object.assign(document.createElement("kbd"), { textContent: "Enter" }));
  const text = Object.assign(document.createElement("p"), { textContent: words });
  byId("feedback").dataset.right = String(right);
  byId("feedback").replaceChildren(text, go);
  byId("feedback").hidden = false;
  byId("answers").hidden = true;
  go.focus();
  countPractice(1);
}
function goOn() {
  if (!judged) return;
  judged = null;
  next();
}
function finishPractice() {
  hideStage();
  panel("done", "That was the practice. Your real answers may of course differ from the owner's examples: say what you see.", ["Start with the pairs", "/work"], ...(boot.graded ? [] : [["Start in the grid", "/grid"]]));
}
function countPractice(done) {
  const total = boot.practice.length;
  showProgress({ answered: total - queue.length - (done ? 0 : 1), total, later: 0, seconds_per_pair: null }, 0);
}

// ----------------------------------------------------------------------------------------------------------- the wiring

const closeZoom = () => byId("zoom").open && byId("zoom").close();
function toggleZoom() {
  if (byId("zoom").open) return closeZoom();
  if (!current || byId("stage").hidden) return undefined;
  return zoom([{ picture: current.query, name: "Query" }, { picture: current.candidate, name: "Candidate" }]);
}
function act(action) {
  if (ANSWERS.has(action)) answer(action);
  else if (action === "reason") openReason();
  else if (action === "zoom") toggleZoom();
  else if (action === "undo" && !practising) undo();
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (event.detail > 1 && clock.milliseconds < DOUBLE_CLICK_MS) return;
  if (button) act(button.dataset.action);
  else if (event.target.closest("#stage .picture")) playOr(event.target.closest(".picture"), toggleZoom);
});
/** A sound is played or stopped; a picture is enlarged. */
function playOr(card, otherwise) {
  const player = byId(`${card.id}-sound`);
  if (!player) return otherwise();
  return player.paused ? player.play().catch(() => {}) : player.pause();
}
document.addEventListener("keydown", (event) => {
  if (!isOurs(event) || byId("keys-dialog").open || !byId("reason").hidden) return;
  if (judged && event.key === "Enter" && event.target === document.body) return goOn();
  const action = keys.actionOf(event);
  if (!action) return undefined;
  event.preventDefault();
  return act(action);
});
byId("keys-dialog").addEventListener("close", () => clock.resume());
byId("keys-open").addEventListener("click", () => clock.pause());

if (practising) {
  queue.push(...boot.practice.map(prepared));
  for (const action of ["reason", "later", "undo"]) document.querySelector(`[data-action="${action}"]`).hidden = true;
  byId("saved").hidden = true;
  if (queue.length) next().then(() => countPractice(0));
  else panel("done", "There are no practice pairs.", ["Start", "/work"]);
} else {
  fill();
}

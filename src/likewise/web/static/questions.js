// Questions of other kinds: triplets, ratings, keep or delete, multiple choice with pictures. One key answers each.

import { ask } from "./outbox.js";
import { boot, byId, Clock, element, History, isOurs, load, nameOf, outboxOf, painted, panel, say, showProgress, zoom } from "./shared.js";

const TOO_SOON_MS = 250;
const RETRY_MS = 5000;
const AHEAD = 3;
// One key for every option, as the keyboard lies: digits, then letters. E and Z have a meaning of their own.
const KEYS = "1234567890qwrtyuiopasdfghjklxcvbnm";

const clock = new Clock();
const history = new History("questions");
const outbox = outboxOf("questions", "/questions/answers");
const queue = [];
let current = null;
let answerable = false;
let fetching = false;
let progress = null;
let wakeUp = 0;

/** Nothing on the screen can be answered now; the page names the question only while it can. */
function notYet() {
  answerable = false;
  delete byId("main").dataset.question;
}

/** A question with its pictures on the way: first those it shows, then those of its options. */
function prepared(question) {
  const images = question.images ?? [];
  const ready = Promise.all([
    Promise.all(images.map((image, place) => load(image, nameOfImage(question, place)))),
    Promise.all(question.options.map((option) => (option.image ? load(option.image, "") : null))),
  ]);
  ready.catch(() => {});
  return { ...question, images, ready };
}

function nameOfImage(question, place) {
  if (question.kind === "triplet") return "Reference";
  return question.images.length > 1 ? `Picture ${place + 1}` : "Picture";
}

function held() {
  return [...new Set([...outbox.waiting.map((one) => one.event.question), ...queue.map((one) => one.id), ...(current ? [current.id] : [])])];
}

async function fill() {
  if (fetching || queue.length >= AHEAD || (current && !navigator.onLine)) return;
  fetching = true;
  try {
    if (outbox.size && !outbox.problem) await outbox.flush();
    while (queue.length < AHEAD) {
      const skip = held();
      const reply = await ask(`${boot.api}/questions/next${skip.length ? `?skip=${skip.map(encodeURIComponent).join(",")}` : ""}`);
      setProgress(reply.progress);
      if (!reply.question || skip.includes(reply.question.id)) break;
      queue.push(prepared(reply.question));
      if (!current) next();
    }
    if (current || queue.length) return;
    if (outbox.size) sleep("waiting", "Waiting until your last answers are stored…");
    else finish();
  } catch (problem) {
    if (!current) lost(problem);
  } finally {
    fetching = false;
  }
}

/** Go on: with what is here, or with what the server has. */
const wake = () => (!current && queue.length ? next() : fill());

function sleep(state, text, ...buttons) {
  hide();
  panel(state, text, ...buttons);
  clearTimeout(wakeUp);
  wakeUp = setTimeout(wake, RETRY_MS);
}

function lost(problem) {
  const text = problem.kind === "session" || problem.kind === "bad" ? `Cannot continue: ${problem.message}.` : "No connection. Your answers are kept in this browser and will be sent. Trying again…";
  sleep("offline", text, ["Try now", wake]);
}

function finish() {
  hide();
  byId("prompt").textContent = "Thank you";
  panel("done", "That was the last question. Everything is stored; you can close this page.");
  byId("tools").hidden = false;
  document.querySelector('[data-action="zoom"]').hidden = true;
  showUndo();
}

function hide() {
  current = null;
  notYet();
  clock.stop();
  byId("question").hidden = byId("tools").hidden = true;
}

function next() {
  current = queue.shift() ?? null;
  if (current) {
    show(current);
    fill();
  } else {
    hide();
    panel("loading", "Loading the pictures…");
    fill();
  }
}

async function show(question) {
  notYet();
  clock.stop();
  let pictures;
  try {
    pictures = await question.ready;
  } catch (error) {
    if (question !== current) return;
    queue.unshift(prepared(question));
    lost(error);
    return;
  }
  if (question !== current) return;
  byId("prompt").textContent = question.prompt;
  byId("question").dataset.kind = question.kind;
  byId("shown").replaceChildren(...pictures[0].map((image, place) => figure(question, image, place)));
  byId("options").replaceChildren(...question.options.map((option, place) => choice(question, option, pictures[1][place], place)));
  panel("showing");
  byId("question").hidden = byId("tools").hidden = false;
  document.querySelector('[data-action="zoom"]').hidden = question.images.length === 0;
  showUndo();
  say(question.prompt);
  await painted();
  if (question !== current) return;
  clock.start();
  answerable = true;
  byId("main").dataset.question = question.id;
}

function figure(question, image, place) {
  const button = element("button", { type: "button", className: "picture" }, image);
  button.setAttribute("aria-label", `${nameOfImage(question, place)}: enlarge`);
  button.addEventListener("click", toggleZoom);
  const made = element("figure", {}, button);
  if (question.kind === "triplet" || question.images.length > 1) made.prepend(element("figcaption", {}, nameOfImage(question, place)));
  return made;
}

function choice(question, option, face, place) {
  const button = element("button", { type: "button", className: face ? "face" : "" });
  if (face) button.append(face);
  const words = element("span", {}, option.label);
  // A rating's label is its number: printing the key as well would only repeat it.
  if (question.kind !== "rating" && place < KEYS.length) words.append(" ", element("kbd", {}, KEYS[place].toUpperCase()));
  button.append(words);
  if (question.previous === option.value) button.setAttribute("aria-current", "true");
  button.addEventListener("click", () => answer(option));
  return button;
}

function answer(option) {
  if (!answerable || !current || clock.milliseconds < TOO_SOON_MS) return;
  notYet();
  outbox.add({ question: current.id, value: option.value, milliseconds: clock.milliseconds });
  const { ready, previous, ...plain } = current;
  history.push({ ...plain, previous: option.value, label: option.label });
  say(`${option.label}. Next question.`);
  closeZoom();
  next();
}

/** Ask the last question again; the new answer replaces the old one. */
function back() {
  const last = history.pop();
  if (!last) return;
  if (current) queue.unshift(current);
  clearTimeout(wakeUp);
  closeZoom();
  current = prepared(last);
  show(current);
}

function showUndo() {
  const { last } = history;
  document.querySelector('[data-action="undo"]').disabled = !last;
  byId("last").textContent = last ? `Last answer: ${last.label}` : "";
}

function setProgress(given) {
  progress = given ?? progress;
  if (progress) showProgress(progress, outbox.size, "question");
}
outbox.addEventListener("progress", (event) => setProgress(event.detail));
outbox.addEventListener("change", () => setProgress());
addEventListener("online", () => !current && wake());

const closeZoom = () => byId("zoom").open && byId("zoom").close();
function toggleZoom() {
  if (byId("zoom").open) return closeZoom();
  if (!current) return undefined;
  const options = current.options.filter((option) => option.image).map((option) => ({ picture: option.image, name: option.label }));
  return zoom([...current.images.map((picture, place) => ({ picture, name: nameOfImage(current, place) })), ...options]);
}
document.addEventListener("click", (event) => {
  const action = event.target.closest("[data-action]")?.dataset.action;
  if (action === "undo") back();
  else if (action === "zoom") toggleZoom();
});
document.addEventListener("keydown", (event) => {
  if (!isOurs(event)) return;
  const name = nameOf(event);
  if (name === "z") return back();
  if (name === "e") return toggleZoom();
  const place = KEYS.indexOf(name);
  if (place < 0 || !current?.options[place]) return undefined;
  event.preventDefault();
  return answer(current.options[place]);
});
for (const [action, key] of [["undo", "Z"], ["zoom", "E"]]) document.querySelector(`[data-action="${action}"]`).append(" ", element("kbd", {}, key));

fill();

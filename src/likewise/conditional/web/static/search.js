// The search page: every change of picture, text or slider asks again; only the newest answer is shown.

const boot = JSON.parse(document.getElementById("boot").textContent);
const byId = (id) => document.getElementById(id);
const WAIT_MS = 250; // after the last key or move of the slider
const UPLOAD_PIXELS = 768; // the longer side that is sent; encoders look at less
const asked = { image: null, upload: "", text: "", weight: 0.5, model: 0, keep: "" };
let turn = 0;
let timer = 0;
let listed = 0;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

async function get(path, values = {}, options = {}) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== ""));
  const reply = await fetch(`${boot.api}/search${path}?${query}`, { ...options, headers: { ...options.headers, "X-CSRF-Token": boot.csrf } });
  const content = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(content.detail ?? "the site did not understand the question");
  return content;
}

function tell(text, state = "showing") {
  byId("said").textContent = text;
  byId("main").dataset.state = state;
}

// ----------------------------------------------------------------------------------------------------------- question

function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT_MS);
}

async function ask() {
  const mine = (turn += 1);
  asked.text = byId("text").value.trim();
  asked.weight = Number(byId("weight").value) / 100;
  asked.keep = asked.image ? chosenColumns().join(",") : "";
  remember();
  if (!asked.text && !asked.image && !asked.upload) {
    byId("found").replaceChildren();
    tell("Choose or upload a picture, or type a condition.", "start");
    return;
  }
  tell("Looking…", "asking");
  try {
    const reply = await get("", asked);
    if (mine !== turn) return;
    byId("found").replaceChildren(...reply.found.map((one, place) => tile(one, place)));
    if (reply.reference) showPicture(reply.reference);
    const kept = asked.keep ? ` with the same ${asked.keep.replaceAll(",", ", ")}` : "";
    tell(reply.found.length ? `${reply.found.length} images${kept}, best first. Choose one to go on from it.` : `No image${kept}: keep less of the picture.`);
  } catch (problem) {
    if (mine === turn) tell(`That did not work: ${problem.message}`, "failed");
  }
}

function tile(picture, place) {
  const image = element("img", { src: picture.thumb, alt: "", loading: "lazy", width: 136, height: 136 });
  const rank = place === undefined ? "" : `${place + 1}. `;
  const words = element("span", {}, element("b", {}, rank), picture.name);
  const button = element("button", { type: "button" }, image, words);
  button.addEventListener("click", () => choose(picture));
  return element("li", {}, button);
}

// ---------------------------------------------------------------------------------------------------------- reference

function choose(picture) {
  asked.image = picture.image;
  asked.upload = "";
  showPicture(picture);
  byId("reference").scrollIntoView({ block: "nearest" });
  ask();
}

function showPicture(picture) {
  const shown = byId("reference").querySelector("img");
  if (shown && shown.src.endsWith(picture.full)) return;
  place(element("img", { src: picture.full, alt: `Reference: ${picture.name}` }));
}

function place(what) {
  byId("reference").replaceChildren(what);
  byId("clear").hidden = false;
}

byId("clear").addEventListener("click", () => {
  asked.image = null;
  asked.upload = "";
  byId("reference").replaceChildren(element("p", { className: "note" }, "No picture chosen: searching by text only."));
  byId("clear").hidden = true;
  byId("choose").focus();
  ask();
});

/** The picture as a small JPEG on a canvas, which also is what the page shows: the file itself never leaves the browser. */
async function shrunk(file) {
  const bitmap = await createImageBitmap(file);
  const share = Math.min(1, UPLOAD_PIXELS / Math.max(bitmap.width, bitmap.height));
  const canvas = element("canvas", { width: Math.max(1, Math.round(bitmap.width * share)), height: Math.max(1, Math.round(bitmap.height * share)) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Reference: your picture ${file.name}`);
  const content = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.9));
  return { canvas, content };
}

byId("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (!file) return;
  tell("Looking at your picture…", "asking");
  try {
    const { canvas, content } = await shrunk(file);
    const reply = await get("/upload", {}, { method: "POST", body: content, headers: { "Content-Type": "image/jpeg" } });
    asked.image = null;
    asked.upload = reply.upload;
    place(canvas);
    ask();
  } catch (problem) {
    const text = problem instanceof DOMException ? "this file is not a picture that the browser can read" : problem.message;
    tell(`That did not work: ${text}`, "failed");
  }
});

// ------------------------------------------------------------------------------------------------------------ chooser

byId("choose").addEventListener("click", () => {
  const chooser = byId("chooser");
  chooser.hidden = !chooser.hidden;
  byId("choose").setAttribute("aria-expanded", String(!chooser.hidden));
  if (!chooser.hidden) {
    if (!listed) list(true);
    byId("find").focus();
  }
});

async function list(fresh) {
  if (fresh) listed = 0;
  try {
    const reply = await get("/pictures", { find: byId("find").value, after: listed });
    if (fresh) byId("pictures").replaceChildren();
    byId("pictures").append(...reply.pictures.map((one) => tile(one)));
    listed += reply.pictures.length;
    byId("more").hidden = listed >= reply.total;
    byId("find-said").textContent = `${listed} of ${reply.total} pictures`;
  } catch (problem) {
    byId("find-said").textContent = `That did not work: ${problem.message}`;
  }
}

let finding = 0;
byId("find").addEventListener("input", () => {
  clearTimeout(finding);
  finding = setTimeout(() => list(true), WAIT_MS);
});
byId("more").addEventListener("click", () => list(false));

// ------------------------------------------------------------------------------------------------------------- fields

function sayWeight() {
  const weight = Number(byId("weight").value);
  const words = weight === 50 ? "equal weight" : weight === 0 ? "the image alone" : weight === 100 ? "the text alone" : weight < 50 ? `more the image (${100 - weight} %)` : `more the text (${weight} %)`;
  byId("weight-said").textContent = words;
  byId("weight").setAttribute("aria-valuetext", words);
}

byId("text").addEventListener("input", soon);
byId("weight").addEventListener("input", () => {
  sayWeight();
  soon();
});
byId("model").addEventListener("change", (event) => {
  asked.model = Number(event.target.value);
  ask();
});
byId("asked").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  ask();
});

// -------------------------------------------------------------------------------------------------------------- kept

function chosenColumns() {
  return [...byId("kept").querySelectorAll("button[aria-pressed=true]")].map((chip) => chip.value);
}

/** "baseColour" and "base_colour" as people say them. */
function readable(column) {
  return column.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
}

function offerColumns(pressed) {
  byId("kept").hidden = !boot.columns.length;
  for (const column of boot.columns) {
    const chip = element("button", { type: "button", value: column, className: "chip" }, readable(column));
    chip.setAttribute("aria-pressed", String(pressed.includes(column)));
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      ask();
    });
    byId("kept").append(chip);
  }
}

/** The address says what was asked, so that it can be opened again or sent on. */
function remember() {
  const values = { image: asked.image, text: asked.text, weight: asked.weight === 0.5 ? null : asked.weight };
  const kept = chosenColumns().join(",");
  if (kept !== boot.kept.filter((column) => boot.columns.includes(column)).join(",")) values.keep = kept || "none";
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== ""));
  window.history.replaceState(null, "", query.size ? `?${query}` : window.location.pathname);
}

function start() {
  const given = new URLSearchParams(window.location.search);
  byId("text").value = given.get("text") ?? "";
  if (given.has("weight")) byId("weight").value = String(100 * Number(given.get("weight")));
  asked.image = given.get("image");
  if (boot.models.length > 1) {
    byId("models").hidden = false;
    byId("model").append(...boot.models.map((label, number) => element("option", { value: number }, label)));
  }
  offerColumns(given.has("keep") ? given.get("keep").split(",") : boot.kept);
  sayWeight();
  ask();
}

start();

// What the expert's pages have in common: keys, the clock, pictures, the strip with progress and "saved".

import { Outbox } from "./outbox.js";

export const boot = JSON.parse(document.getElementById("boot").textContent);
const store = boot.store ?? `${boot.project}:${boot.expert}`; // names what this browser keeps, apart from any other project's
export const byId = (id) => document.getElementById(id);

/** Make an element: `element("b", { className: "key" }, "F")`. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Tell a screen reader what has changed. */
export function say(text) {
  byId("live").textContent = text;
}

// ---------------------------------------------------------------------------------------------------------------- time

/** How long the pair was really looked at: stands still while the tab is hidden or a dialog covers the pair. */
export class Clock {
  #spent = 0;
  #since = null;

  constructor() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.pause() : this.resume()));
  }
  start() {
    this.#spent = 0;
    this.#since = document.hidden ? null : performance.now();
    this.running = true;
  }
  stop() {
    this.pause();
    this.running = false;
  }
  pause() {
    if (this.#since !== null) this.#spent += performance.now() - this.#since;
    this.#since = null;
  }
  resume() {
    if (this.running && this.#since === null && !document.hidden) this.#since = performance.now();
  }
  get milliseconds() {
    return Math.round(this.#spent + (this.#since === null ? 0 : performance.now() - this.#since));
  }
}

// ------------------------------------------------------------------------------------------------------------ pictures

const RETRY_MS = [300, 1000];

/** Load and decode a picture, so that showing it later takes no time; a few tries, then the error is the caller's. */
export async function load(picture, alt, url = picture.thumb) {
  for (let attempt = 0; ; attempt += 1) {
    const image = new Image();
    image.alt = alt;
    image.decoding = "sync";
    image.src = url;
    try {
      await image.decode();
      return image;
    } catch (error) {
      if (attempt === RETRY_MS.length) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[attempt]));
    }
  }
}

/** Resolves when what was put on the page has been painted. */
export const painted = () =>
  new Promise((resolve) => {
    // A hidden tab paints nothing and would wait for ever; the clock does not run there anyway.
    if (document.hidden) resolve();
    else requestAnimationFrame(() => setTimeout(resolve, 0));
  });

/** Show originals side by side; the thumbnails stand in until they are there. */
export function zoom(pictures) {
  const dialog = byId("zoom");
  const shown = pictures.map(({ picture, name }) => {
    const image = element("img", { alt: `${name}, original`, src: picture.thumb });
    const frame = element("button", { type: "button", className: "frame" }, image);
    frame.setAttribute("aria-label", `${name}: actual size`);
    frame.setAttribute("aria-pressed", "false");
    frame.addEventListener("click", () => frame.setAttribute("aria-pressed", String(frame.classList.toggle("actual"))));
    load(picture, image.alt, picture.full).then((full) => (image.src = full.src), () => {});
    return element("figure", {}, element("figcaption", {}, name), frame);
  });
  byId("zoom-pictures").replaceChildren(...shown);
  dialog.showModal();
}

for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

// ---------------------------------------------------------------------------------------------------------------- keys

const KEYS_STORE = "likewise:keys";
const FIXED = new Set(["Enter", "Escape", "Tab", " ", "Backspace", "Delete"]);
const TYPING = "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]";

/** A key by the name we store: a letter in any layout is the Latin one of its place, so that defaults work everywhere. */
export function nameOf(event) {
  const latin = /^[\x20-\x7e]$/.test(event.key);
  if (event.key.length === 1 && !latin && /^Key[A-Z]$/.test(event.code)) return event.code.slice(3).toLowerCase();
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

export const isTyping = (target) => target instanceof Element && target.closest(TYPING) !== null;

/** True for a key press that is meant for us: not typed into a field, not held down, no shortcut of the browser. */
export const isOurs = (event) => !(event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing || isTyping(event.target));

const printed = (key) => ({ " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" })[key] ?? (key.length === 1 ? key.toUpperCase() : key);

/** Keys of actions: defaults, what the expert chose instead, and the dialog to choose. */
export class Keys {
  #defaults;
  #chosen = {};

  constructor(actions, onChange) {
    this.#defaults = actions; // action -> { key, label }
    this.onChange = onChange;
    this.#read();
    addEventListener("storage", (event) => event.key === KEYS_STORE && (this.#read(), this.onChange()));
    byId("keys-open").addEventListener("click", () => this.open());
    byId("keys-reset").addEventListener("click", () => this.#store({}, "Back to the defaults."));
  }
  #read() {
    try {
      this.#chosen = JSON.parse(localStorage.getItem(KEYS_STORE)) ?? {};
    } catch {
      this.#chosen = {};
    }
  }
  #store(chosen, said) {
    this.#chosen = chosen;
    try {
      localStorage.setItem(KEYS_STORE, JSON.stringify(chosen));
    } catch { /* the keys then last as long as the page */ }
    byId("keys-said").textContent = said;
    this.#list();
    this.onChange();
  }
  of(action) {
    return this.#chosen[action] ?? this.#defaults[action].key;
  }
  printed(action) {
    return printed(this.of(action));
  }
  actionOf(event) {
    const name = nameOf(event);
    return Object.keys(this.#defaults).find((action) => this.of(action) === name);
  }
  get used() {
    return new Set(Object.keys(this.#defaults).map((action) => this.of(action)));
  }
  /** Print the keys on the buttons. */
  label(buttons) {
    for (const button of buttons) {
      const action = button.dataset.action;
      if (!this.#defaults[action]) continue;
      let key = button.querySelector("kbd");
      if (!key) button.append(" ", (key = element("kbd")));
      key.textContent = this.printed(action);
      button.setAttribute("aria-keyshortcuts", this.printed(action));
    }
  }
  open() {
    byId("keys-said").textContent = "";
    this.#list();
    byId("keys-dialog").showModal();
  }
  #list() {
    const rows = Object.entries(this.#defaults).map(([action, { label }]) => {
      const button = element("button", { type: "button" }, element("kbd", {}, this.printed(action)));
      button.dataset.remap = action;
      button.setAttribute("aria-label", `${label}: ${this.printed(action)}. Change`);
      button.addEventListener("click", () => this.#listen(action, button));
      return element("li", {}, element("span", {}, label), button);
    });
    byId("keys-list").replaceChildren(...rows);
  }
  #listen(action, button) {
    const { label } = this.#defaults[action];
    byId("keys-said").textContent = `Press the new key for “${label}”. Esc leaves it as it is.`;
    button.classList.add("listening");
    const stop = () => {
      button.classList.remove("listening");
      document.removeEventListener("keydown", hear, true);
      button.removeEventListener("blur", stop);
    };
    const hear = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Shift") return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const name = nameOf(event);
      if (event.key === "Escape") {
        byId("keys-said").textContent = "";
        return stop();
      }
      if (FIXED.has(event.key) || event.key.startsWith("Arrow") || /^[0-9]$/.test(name)) {
        byId("keys-said").textContent = `${printed(name)} has a meaning of its own: choose another key.`;
        return;
      }
      stop();
      const chosen = { ...this.#chosen };
      const other = Object.keys(this.#defaults).find((one) => one !== action && this.of(one) === name);
      if (other) chosen[other] = this.of(action); // two actions swap their keys
      chosen[action] = name;
      const swapped = other ? `, “${this.#defaults[other].label}” is now ${printed(chosen[other])}` : "";
      this.#store(chosen, `“${label}” is now ${printed(name)}${swapped}.`);
      byId("keys-list").querySelector(`[data-remap="${action}"]`).focus();
    };
    document.addEventListener("keydown", hear, true);
    button.addEventListener("blur", stop);
  }
}

// --------------------------------------------------------------------------------------------------------------- strip

const PATIENCE_MS = 600; // "1 waiting" for the blink of an eye would only unsettle

/** The outbox of this page, wired to the words "saved", "waiting", "offline", and to the refusals. */
export function outboxOf(kind, path) {
  const outbox = new Outbox(store, kind, boot.api, path);
  let timer = 0;
  const print = () => {
    const { state, text } = outbox.status;
    byId("saved").dataset.state = state;
    if (byId("saved").textContent !== text) byId("saved").textContent = text;
  };
  const show = () => {
    clearTimeout(timer);
    if (outbox.status.state === "waiting" && !outbox.problem) timer = setTimeout(print, PATIENCE_MS);
    else print();
    const { refused } = outbox;
    byId("refused").hidden = refused.length === 0;
    byId("refused").querySelector("p").textContent = refused.length === 1 ? "One answer was not taken:" : `${refused.length} answers were not taken:`;
    byId("refused").querySelector("ul").replaceChildren(...refused.map((one) => element("li", {}, one.why)));
  };
  byId("refused").querySelector("button").addEventListener("click", () => outbox.forgetRefused());
  outbox.addEventListener("change", show);
  show();
  if (outbox.size) outbox.flush();
  return outbox;
}

const about = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);

/** Progress as the server counts it, plus the answers that are still on their way. */
/** What an expert reads before the owner has chosen any pairs. */
export const NOTHING_YET = "There are no pairs to answer yet: whoever invited you is still choosing them. This page looks again every minute; you can also come back later with the same link.";

export function showProgress(progress, onTheirWay, what = "pair") {
  const answered = Math.min(progress.total, progress.answered + onTheirWay);
  const left = progress.total - answered;
  byId("progress-bar").max = Math.max(1, progress.total);
  byId("progress-bar").value = answered;
  const words = [`${answered.toLocaleString("en")} of ${progress.total.toLocaleString("en")}`, `${left.toLocaleString("en")} left`];
  if (progress.later) words.push(`${progress.later} for later`);
  byId("progress-text").textContent = words.join(" · ");
  const pace = progress.seconds_per_pair;
  byId("pace-text").textContent = pace ? `${pace.toFixed(1)} s a ${what}${left ? `, about ${about(pace * left)} to go` : ""}` : "";
}

/** A message in the place of the pictures: loading, paused, done. Buttons are [label, function or address]. */
export function panel(state, text, ...buttons) {
  byId("main").dataset.state = state;
  byId("panel").hidden = state === "showing";
  if (state === "showing") return;
  byId("panel-text").textContent = text;
  const made = buttons.map(([label, act]) =>
    typeof act === "string"
      ? element("a", { className: "button strong", href: boot.prefix + act }, label)
      : element("button", { type: "button", className: "strong", onclick: act }, label),
  );
  byId("panel-actions").replaceChildren(...made);
}

/** What can be taken back, newest last; survives a reload of the page. */
export class History {
  #name;
  constructor(kind) {
    this.#name = `likewise:${store}:history:${kind}`;
  }
  get all() {
    try {
      return JSON.parse(sessionStorage.getItem(this.#name)) ?? [];
    } catch {
      return [];
    }
  }
  #write(entries) {
    try {
      sessionStorage.setItem(this.#name, JSON.stringify(entries.slice(-50)));
    } catch { /* undo then works until the page is left */ }
  }
  push(entry) {
    this.#write([...this.all, entry]);
  }
  pop() {
    const entries = this.all;
    const last = entries.pop();
    this.#write(entries);
    return last;
  }
  get last() {
    return this.all.at(-1);
  }
}

/** Tabs of one person tell each other which pairs were answered, so that nobody is asked twice. */
export function acrossTabs(kind, onPairs) {
  const channel = new BroadcastChannel(`likewise:${store}:${kind}`);
  channel.addEventListener("message", (event) => onPairs(new Set(event.data)));
  return (pairs) => channel.postMessage(pairs);
}

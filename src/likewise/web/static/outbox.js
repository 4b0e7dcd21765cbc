// Answers wait here until the server says that it has stored them.
//
// Every event is one entry of local storage, named by its time, so that several tabs add and remove events without ever
// rewriting each other's; the server knows an event by its client id, so that sending one twice does no harm.

const BATCH = 50;
const TIMEOUT_MS = 15000;
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15000, 30000];

export class Problem extends Error {
  constructor(kind, text, status = 0) {
    super(text);
    this.kind = kind; // "network", "busy", "session" or "bad"
    this.status = status;
  }
}

const tokenOf = (page) => page.querySelector('meta[name="csrf-token"]');
function personOf(page) {
  const { store, project, expert } = JSON.parse(page.getElementById("boot").textContent);
  return JSON.stringify([store, project, expert]);
}

/** Opening the invitation again elsewhere makes this page's token stale. Get a new one, but only if the browser is still
    signed in as the same person: answers given here must never become somebody else's. */
async function renewToken() {
  const reply = await fetch(location.href, { credentials: "same-origin", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!reply.ok) return false;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  if (!page.getElementById("boot") || personOf(page) !== personOf(document)) return false;
  tokenOf(document).content = tokenOf(page).content;
  return true;
}

/** Ask the server; whatever goes wrong becomes a Problem whose kind says what to do about it. */
export async function ask(url, body, again = true) {
  const options = { credentials: "same-origin", signal: AbortSignal.timeout(TIMEOUT_MS) };
  if (body !== undefined) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json", "X-CSRF-Token": tokenOf(document).content };
    options.body = JSON.stringify(body);
    options.keepalive = true; // an answer given just before the page closes still leaves
  }
  let reply;
  try {
    reply = await fetch(url, options);
  } catch {
    throw new Problem("network", "the server cannot be reached");
  }
  let said = null;
  try {
    said = await reply.json();
  } catch {
    if (reply.ok) throw new Problem("busy", "the server's reply was cut off");
  }
  if (reply.ok) return said;
  const text = typeof said?.detail === "string" ? said.detail : `the server answered ${reply.status}`;
  if (reply.status === 403 && body !== undefined && again && (await renewToken().catch(() => false))) return ask(url, body, false);
  if (reply.status === 401 || reply.status === 403) throw new Problem("session", text);
  if (reply.status >= 500 || reply.status === 408 || reply.status === 429) throw new Problem("busy", text);
  throw new Problem("bad", text, reply.status);
}

/** A version-4 UUID; crypto.randomUUID exists only on https and localhost, and a site may be served on a local network. */
export function clientId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function memory() {
  const held = new Map();
  return {
    get length() { return held.size; },
    key: (place) => [...held.keys()][place] ?? null,
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => held.set(key, value),
    removeItem: (key) => held.delete(key),
  };
}

/** Local storage, or plain memory where the browser gives none. */
function shelf() {
  try {
    localStorage.setItem("likewise:probe", "1");
    localStorage.removeItem("likewise:probe");
    return { kept: true, items: localStorage };
  } catch {
    return { kept: false, items: memory() };
  }
}

export class Outbox extends EventTarget {
  #shelf = shelf();
  #prefix;
  #refusedPrefix;
  #api;
  #path;
  #lastTime = 0;
  #failures = 0;
  #timer = 0;
  #flushing = null;

  /** `store` names the project and the person, so that answers never reach another one; `path` takes {events}. */
  constructor(store, kind, api, path) {
    super();
    this.#prefix = `likewise:${store}:${kind}:`;
    this.#refusedPrefix = `likewise:${store}:refused:`;
    this.#api = api;
    this.#path = path;
    this.problem = null;
    const wake = () => {
      this.#failures = 0;
      if (this.size) this.flush();
      else this.#changed(); // "Offline" is over, and there is nothing to send that would say so
    };
    addEventListener("online", wake);
    addEventListener("focus", wake);
    addEventListener("pageshow", wake);
    addEventListener("offline", () => this.#changed());
    addEventListener("storage", (event) => event.key?.startsWith(`likewise:${store}:`) && this.#changed());
    addEventListener("beforeunload", (event) => {
      const unsafe = this.size && (this.problem || !navigator.onLine || !this.#shelf.kept);
      if (unsafe) event.preventDefault();
    });
  }

  #keys(prefix) {
    const { items } = this.#shelf;
    return Array.from({ length: items.length }, (_, place) => items.key(place)).filter((key) => key.startsWith(prefix)).sort();
  }

  get size() {
    return this.#keys(this.#prefix).length;
  }

  /** The events still waiting, oldest first. */
  get waiting() {
    return this.#keys(this.#prefix).map((key) => ({ key, event: JSON.parse(this.#shelf.items.getItem(key)) }));
  }

  /** What the server would not take, and why, until the person has read it. */
  get refused() {
    return this.#keys(this.#refusedPrefix).map((key) => JSON.parse(this.#shelf.items.getItem(key)));
  }

  forgetRefused() {
    for (const key of this.#keys(this.#refusedPrefix)) this.#shelf.items.removeItem(key);
    this.#changed();
  }

  #put(event) {
    // Names sort in the order of the answers, also when the clock was set back while some waited.
    const latest = this.#keys(this.#prefix).at(-1)?.slice(this.#prefix.length).split(":")[0] ?? 0;
    this.#lastTime = Math.max(this.#lastTime + 1, Number(latest) + 1, Date.now());
    const name = String(this.#lastTime).padStart(15, "0");
    const whole = { client_id: clientId(), ...event };
    const entry = [`${this.#prefix}${name}:${whole.client_id}`, JSON.stringify(whole)];
    try {
      this.#shelf.items.setItem(...entry);
    } catch {
      // The browser's storage is full: go on in memory, from where it is at least sent.
      const items = memory();
      for (const one of this.waiting) items.setItem(one.key, JSON.stringify(one.event));
      items.setItem(...entry);
      this.#shelf = { kept: false, items };
    }
  }

  /** Keep events and send them as soon as possible. */
  add(...events) {
    for (const event of events) this.#put(event);
    this.#changed();
    this.flush();
  }

  /** Send what waits, in order; one tab at a time. */
  flush() {
    this.#flushing ??= this.#exclusively(() => this.#drain()).finally(() => {
      this.#flushing = null;
      this.#changed();
      if (this.size && !this.problem) this.flush(); // something was added while the last reply came in
    });
    return this.#flushing;
  }

  #exclusively(work) {
    // Without locks (plain http on a local network) two tabs may send the same events; the server counts them once.
    return navigator.locks ? navigator.locks.request(this.#prefix, work) : work();
  }

  /** What goes out together: answers up to the next undo, or that undo alone; never out of order. */
  #batch(limit) {
    const waiting = this.waiting.slice(0, limit);
    const undo = waiting.findIndex((one) => one.event.answer === "undo");
    return undo < 0 ? waiting : waiting.slice(0, Math.max(1, undo));
  }

  async #send(batch) {
    if (batch[0].event.answer !== "undo") return ask(`${this.#api}${this.#path}`, { events: batch.map((one) => one.event) });
    const { client_id, pair } = batch[0].event;
    const accepted = [client_id];
    try {
      const { progress } = await ask(`${this.#api}/undo`, { client_id, pair });
      return { accepted, progress };
    } catch (problem) {
      if (problem.status === 409) return { accepted }; // nothing to take back: that answer never counted
      throw problem;
    }
  }

  async #drain() {
    clearTimeout(this.#timer);
    let limit = BATCH;
    for (let batch = this.#batch(limit); batch.length; batch = this.#batch(limit)) {
      let reply;
      try {
        reply = await this.#send(batch);
      } catch (problem) {
        if (problem.kind !== "bad") return this.#tryLater(problem);
        // One unreadable event must not hold up the others: find it by sending them one by one.
        if (batch.length > 1) limit = 1;
        else this.#refuse(batch[0], problem.message);
        continue;
      }
      const accepted = new Set(reply.accepted);
      const refused = new Map((reply.refused ?? []).map((one) => [one.client_id, one.why]));
      for (const one of batch) {
        if (accepted.has(one.event.client_id)) this.#shelf.items.removeItem(one.key);
        else if (refused.has(one.event.client_id)) this.#refuse(one, refused.get(one.event.client_id));
      }
      this.problem = null;
      this.#failures = 0;
      if (reply.progress) this.dispatchEvent(new CustomEvent("progress", { detail: reply.progress }));
      this.#changed();
      const settled = batch.some((one) => accepted.has(one.event.client_id) || refused.has(one.event.client_id));
      if (!settled) return this.#tryLater(new Problem("busy", "the server did not confirm the answers"));
    }
    this.problem = null;
  }

  #refuse(one, why) {
    this.#shelf.items.removeItem(one.key); // first: the two together may not fit into a full storage
    this.#shelf.items.setItem(one.key.replace(this.#prefix, this.#refusedPrefix), JSON.stringify({ ...one.event, why }));
    this.#changed();
  }

  #tryLater(problem) {
    this.problem = problem;
    const wait = WAITS_MS[Math.min(this.#failures, WAITS_MS.length - 1)];
    this.#failures += 1;
    this.#timer = setTimeout(() => this.flush(), wait * (0.8 + 0.4 * Math.random()));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** The state in words: is everything stored? */
  get status() {
    const n = this.size;
    if (this.problem?.kind === "session") return { state: "signed-out", text: `Signed out, ${n} kept here: open your invitation link again` };
    if (!navigator.onLine || this.problem?.kind === "network") return { state: "offline", text: n ? `Offline, ${n} kept here` : "Offline" };
    if (this.problem) return { state: "waiting", text: `${n} waiting: ${this.problem.message}` };
    return n ? { state: "waiting", text: `${n} waiting` } : { state: "saved", text: "Saved" };
  }
}

// What was asked before, newest first, in this browser only.

const MAX_KEPT = 30;

export class History {
  constructor(name) {
    this.name = name;
  }
  get all() {
    try {
      return JSON.parse(localStorage.getItem(this.name)) ?? [];
    } catch {
      return [];
    }
  }
  #write(entries) {
    try {
      localStorage.setItem(this.name, JSON.stringify(entries.slice(0, MAX_KEPT)));
    } catch { /* the browser's own Back then has to do */ }
  }
  /** A question once; one that only goes on typing takes the place of the last. */
  add(entry) {
    const others = this.all.filter((one) => one.said !== entry.said);
    if (others[0]?.typed && entry.said.startsWith(others[0].said.replace(/”$/, ""))) others.shift();
    this.#write([entry, ...others]);
  }
  clear() {
    this.#write([]);
  }
}

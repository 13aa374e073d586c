import type { LiveEvent, LogEntry, LogPosition, LogSnapshot } from '../../src/live/live-log.ts';

/** What the store tells a process of a log that it may be watching. */
export interface StoreMessage {
  readonly name: string;
  readonly generation: string;
  /** `null`: the log was dropped. */
  readonly entry: LogEntry | null;
}

interface StoredLog {
  head: LogPosition;
  entries: LogEntry[];
}

/** The logs of all readers, as processes share them. Each call is one step. */
export class LiveStore {
  readonly #logs = new Map<string, StoredLog>();
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #length: number;
  /** Called with every entry. */
  readonly listeners = new Set<(message: StoreMessage) => void>();

  constructor(options: {
    readonly now: () => number;
    readonly newId: () => string;
    readonly length: number;
  }) {
    this.#now = options.now;
    this.#newId = options.newId;
    this.#length = options.length;
  }

  kept(names: readonly string[]): string[] {
    return names.filter((name) => this.#logs.has(name));
  }

  names(): string[] {
    return [...this.#logs.keys()];
  }

  open(name: string, position: LogPosition | null): LogSnapshot {
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = { head: { generation: this.#newId(), at: 0, sequence: 0 }, entries: [] };
      this.#logs.set(name, log);
    }
    const isSame = position?.generation === log.head.generation;
    return {
      head: log.head,
      missed: isSame ? log.entries.filter(({ sequence }) => sequence > position.sequence) : [],
    };
  }

  append(name: string, event: LiveEvent): void {
    const log = this.#logs.get(name);
    if (log === undefined) return;
    const { generation, sequence } = log.head;
    const entry = { at: this.#now(), sequence: sequence + 1, event };
    log.head = { generation, at: entry.at, sequence: entry.sequence };
    log.entries = [...log.entries, entry].slice(-this.#length);
    this.#tell({ name, generation, entry });
  }

  drop(name: string): void {
    const log = this.#logs.get(name);
    this.#logs.delete(name);
    if (log !== undefined) this.#tell({ name, generation: log.head.generation, entry: null });
  }

  #tell(message: StoreMessage): void {
    for (const listener of this.listeners) listener(message);
  }
}

import type { Document } from 'mongodb';
import type { Bundle } from './bundle.ts';
import { LiveStore, type StoreMessage } from './live-store.ts';
import type { StoreLink } from './live-log.ts';
import { EPOCH, Machine } from './machine.ts';
import { errorOf, memoryClient, networkError } from './memory-driver.ts';
import { CommandError, MemoryServer, type OnPut } from './memory-server.ts';
import type { ProcessParts, Times } from './process.ts';
import type { Scheduler } from './scheduler.ts';

/** How fast a simulated network is. */
export interface Conditions {
  /** Milliseconds that a command or its answer travels at most, mostly. */
  readonly latencyMs: number;
  /** Of so many commands one is slow on its way there or back; 0: none. */
  readonly slowOneIn: number;
  /** For at most so many milliseconds. */
  readonly slowMs: number;
}

export const CALM: Conditions = { latencyMs: 0.2, slowOneIn: 0, slowMs: 0 };

/** What befalls a command before or after it is carried out: it is the last of its process, or its connection is cut, or it takes long, or there is no space for it. */
export interface Mishap {
  readonly kind: 'death' | 'cut' | 'stall' | 'full';
  readonly isBefore: boolean;
  readonly forMs?: number;
}

/** The error of a server whose disk is full. */
export const OUT_OF_SPACE = 14_031;
const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);

export type Kind = 'api' | 'worker' | 'both';

/** A process that runs, or is no more. */
export interface Running extends ProcessParts {
  readonly machine: Machine;
  readonly kind: Kind;
}

interface Made {
  readonly onPut: OnPut;
  /** Called with what a process has found in a collection. */
  readonly onRead: (collection: string, found: readonly Document[]) => void;
  /** Of all processes. */
  readonly times: Times;
}

/** One database, one live store, and processes that come and go. */
export class Installation {
  readonly scheduler: Scheduler;
  readonly server: MemoryServer;
  readonly store: LiveStore;
  /** Errors that processes logged. */
  readonly complaints: string[] = [];
  conditions: Conditions = CALM;
  /** Called with each command before it leaves. */
  onCommand: (machine: Machine, isWrite: boolean) => Mishap | null = () => null;
  readonly #bundle: Bundle;
  readonly #times: Times;
  readonly #alive = new Set<Machine>();
  readonly #sessionEnds = new Set<(userId: string) => void>();
  #machines = 0;
  #commands = 0;
  #writer = '';
  readonly #onRead: Made['onRead'];

  constructor(scheduler: Scheduler, bundle: Bundle, { onPut, onRead, times }: Made) {
    this.scheduler = scheduler;
    this.#onRead = onRead;
    this.#bundle = bundle;
    this.#times = times;
    const now = (): number => Math.floor(EPOCH + scheduler.time);
    const own = new Machine(scheduler, 'database');
    const newId = (): string => own.idBytes().toString('hex');
    this.server = new MemoryServer({
      ...{ now, newId, onPut },
      unique: bundle.unique,
    });
    this.store = new LiveStore({ now, newId, length: 1_000 });
  }

  /** @param aheadMs by which its wall clock is ahead */
  machine(kind: Kind, aheadMs = 0): Machine {
    this.#machines += 1;
    return this.#born(new Machine(this.scheduler, `${kind}-${String(this.#machines)}`, aheadMs));
  }

  #born(machine: Machine): Machine {
    this.#alive.add(machine);
    machine.onDeath(() => void this.#alive.delete(machine));
    return machine;
  }

  /** The process whose command is carried out. */
  get writer(): string {
    return this.#writer;
  }

  /** So many have left. */
  get commands(): number {
    return this.#commands;
  }

  /** All processes die. */
  end(): void {
    for (const machine of this.#alive) machine.die();
  }

  /** Never resolves if the machine dies meanwhile. */
  async start(machine: Machine, kind: Kind): Promise<Running> {
    const client = memoryClient(machine, (command) => this.#command(machine, command));
    const parts = await this.#bundle.load(machine).openProcess({
      ...{ client, live: this.#link(machine), times: this.#times },
      complained: (message, error) => {
        this.scheduler.note(`${machine.name} complains: ${message} ${String(error)}`);
        this.complaints.push(
          `${machine.name}: ${message} ${error instanceof Error ? (error.stack ?? '') : ''}`,
        );
      },
    });
    if (kind !== 'api') parts.startWorkers();
    return { ...parts, machine, kind };
  }

  /** Reads at once, without being part of what happens. */
  async observer(): Promise<ReturnType<Bundle['load']> & ProcessParts> {
    const machine = this.#born(new Machine(this.scheduler, 'observer'));
    const client = memoryClient(machine, (command) => Promise.resolve(this.server.run(command)));
    const loaded = this.#bundle.load(machine);
    const parts = await loaded.openProcess({
      ...{ client, live: this.#link(machine), times: this.#times },
      complained: () => undefined,
    });
    return { ...loaded, ...parts };
  }

  #delay(): number {
    const { latencyMs, slowOneIn, slowMs } = this.conditions;
    const { random } = this.scheduler;
    const isSlow = slowOneIn > 0 && random.below(slowOneIn) === 0;
    return random.next() * (isSlow ? slowMs : latencyMs);
  }

  /** Travels, is carried out in one step, and its answer travels. */
  #command(machine: Machine, command: Document): Promise<Document> {
    const { scheduler } = this;
    return new Promise((resolve, reject) => {
      if (machine.isDead) return;
      this.#commands += 1;
      const [name = ''] = Object.keys(command);
      const mishap = this.onCommand(machine, WRITES.has(name));
      const dies = mishap?.kind === 'death';
      if (dies) scheduler.note(`${machine.name} dies`);
      if (dies && mishap.isBefore) {
        machine.die();
        return;
      }
      const cut = (): void => reject(networkError());
      const [stallBefore, stallAfter] = mishap?.isBefore === true ? [mishap.forMs, 0] : [0, mishap?.forMs];
      scheduler.after(this.#delay() + (stallBefore ?? 0), () => {
        if (mishap?.kind === 'cut' && mishap.isBefore) {
          machine.after(this.#delay(), cut);
          return;
        }
        const answer =
          mishap?.kind === 'full'
            ? new CommandError(OUT_OF_SPACE, 'There is no space left')
            : this.#carriedOut(machine, command);
        if (dies) machine.die();
        machine.after(this.#delay() + (stallAfter ?? 0), () => {
          if (mishap?.kind === 'cut') cut();
          else if (answer instanceof Error) reject(errorOf(answer));
          else resolve(answer);
        });
      });
    });
  }

  /** A write that the driver sends again is not carried out twice: its answer is kept. */
  readonly #retried = new Map<string, Document>();

  #carriedOut(machine: Machine, command: Document): Document | Error {
    const { lsid, txnNumber } = command;
    const [commandName = ''] = Object.keys(command);
    const key = txnNumber === undefined ? null : `${JSON.stringify(lsid)} ${String(txnNumber)}`;
    const known = key === null ? undefined : this.#retried.get(key);
    if (known !== undefined) return known;
    const line = `${machine.name} ${commandName} ${String(command[commandName])}`;
    this.#writer = machine.name;
    try {
      const result = this.server.run(command);
      if (commandName === 'find') this.#onRead(String(command[commandName]), foundIn(result));
      this.scheduler.note(line, JSON.stringify(result));
      if (key !== null) this.#retried.set(key, result);
      return result;
    } catch (error) {
      this.scheduler.note(`${line} → ${String(error)}`);
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #link(machine: Machine): StoreLink {
    const { scheduler, store } = this;
    const call = <T>(what: string, work: () => T): Promise<T> =>
      new Promise((resolve) => {
        if (machine.isDead) return;
        scheduler.after(this.#delay(), () => {
          const result = work();
          scheduler.note(`${machine.name} ${what}`);
          machine.after(this.#delay(), () => resolve(result));
        });
      });
    // One connection has one order.
    const inOrder = <T>(take: (message: T) => void): ((message: T) => void) => {
      let last = 0;
      return (message) => {
        last = Math.max(last, scheduler.time + this.#delay()) + 0.000_001;
        machine.after(last - scheduler.time, () => take(message));
      };
    };
    return {
      kept: (names) => call('live kept', () => store.kept(names)),
      names: () => call('live names', () => store.names()),
      open: (name, position) => call(`live open ${name}`, () => store.open(name, position)),
      append: (entries) =>
        call(`live append ${entries.map(({ userId, event }) => `${userId} ${event.kind}`).join()}`, () => {
          for (const { userId, event } of entries) store.append(userId, structuredClone(event));
        }),
      drop: (name) => call(`live drop ${name}`, () => store.drop(name)),
      onMessage: (take) => {
        const listener = inOrder<StoreMessage>(take);
        store.listeners.add(listener);
        machine.onDeath(() => void store.listeners.delete(listener));
      },
      endSessions: (userId) =>
        call(`ends sessions of ${userId}`, () => {
          for (const listener of this.#sessionEnds) listener(userId);
        }),
      onSessionsEnd: (take) => {
        const listener = inOrder(take);
        this.#sessionEnds.add(listener);
        machine.onDeath(() => void this.#sessionEnds.delete(listener));
      },
    };
  }
}

function foundIn(result: Document): readonly Document[] {
  return ((result['cursor'] as Document | undefined)?.['firstBatch'] ?? []) as readonly Document[];
}

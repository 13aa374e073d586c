import type { Document } from 'mongodb';
import type { Bundle } from './bundle.ts';
import { problemsOf, type Problem } from './checks.ts';
import { CALM, Installation, type Kind, type Mishap, type Running } from './installation.ts';
import { leasesWatched } from './leases.ts';
import type { OnPut } from './memory-server.ts';
import { EPOCH } from './machine.ts';
import { isKeyed, Nothing, OPERATIONS, STRANGERS, type Sent, type Stage } from './operations.ts';
import type { Fault, Operation, Plan } from './plan.ts';
import { PassesWatched } from './passes.ts';
import { Promises, type PromiseName, type Promised } from './promises.ts';
import { Records } from './records.ts';
import { Scheduler, settled } from './scheduler.ts';
import { isAway, Watcher, type Around } from './watcher.ts';

export interface Outcome {
  readonly problems: readonly Problem[];
  /** Of all that happened. */
  readonly digest: string;
  readonly commands: number;
  readonly virtualMs: number;
  /** The latest that happened. */
  readonly lines: readonly string[];
  /** Operations that were answered, by code; OK: done. */
  readonly answers: ReadonlyMap<string, number>;
}

const RESTARTED_AFTER_MS = 2_000;
const QUIET_WITHIN_MS = 180_000;
const PHASE_WITHIN_MS = 120_000;
/** What live events and the polls of workers take when nothing else happens. What was slow comes, too. */
const SETTLES_MS = 1_200;
const LOOK_EVERY_MS = 250;
const MOST_WATCHERS = 6;
const MOST_PROBLEMS = 20;
const HOST_POLLS_MS = 3_000;
const REFUSALS = new Set(['NOT_FOUND', 'CONFLICT', 'FORBIDDEN', 'BAD_USER_INPUT']);
/** An error that no service being away explains. */
const MISTAKE = /\b(?:Type|Range|Reference|Syntax|Assertion|Mingo)Error\b|MingoError/;

/** Does all of a plan, and checks what is promised whenever nothing is left to do. */
export async function simulate(plan: Plan, bundle: Bundle): Promise<Outcome> {
  const run = new Run(plan, bundle);
  try {
    await run.all();
  } catch (error) {
    const isStuck = error instanceof Error && error.message.startsWith('Stuck');
    if (!isStuck) throw error;
    run.problems.push({ promise: 'work ends', what: error.message });
  } finally {
    await run.end();
  }
  return run.outcome();
}

class Run {
  readonly problems: Problem[] = [];
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #installation: Installation;
  readonly #members: readonly string[];
  readonly #running: Running[] = [];
  readonly #watchers: Watcher[] = [];
  readonly #promises = new Promises();
  readonly #records: Records;
  readonly #found = { actions: [] as string[], interactions: [] as string[] };
  readonly #answers = new Map<string, number>();
  readonly #hostEvents: string[] = [];
  readonly #faults = new Map<number, Fault[]>();
  /** Until when the database is away or full. */
  readonly #offUntil = { away: 0, full: 0 };
  /** By operations that have it before them. */
  readonly #own = new Map<number, { readonly mishap: Mishap; left: number }>();
  #observer: ReturnType<Installation['observer']> | null = null;
  #commands = 0;
  #sent = 0;
  #kept: Promise<void>[] = [];

  constructor(plan: Plan, bundle: Bundle) {
    this.#plan = plan;
    this.#members = Array.from({ length: plan.members }, (_, n) => `m${String(n)}`);
    this.#scheduler = new Scheduler(plan.seed);
    const now = (): number => EPOCH + this.#scheduler.time;
    const slackMs = 300 + 2 * Math.max(plan.latencyMs, plan.slowOneIn === 0 ? 0 : plan.slowMs);
    const note = (promise: PromiseName, what: string): void => {
      if (this.problems.length < MOST_PROBLEMS) this.problems.push({ promise, what });
    };
    this.#records = new Records(now, note);
    const writer = (): string => this.#installation.writer;
    const leases = leasesWatched({ scheduler: this.#scheduler, slackMs, writer }, (what) => {
      note('who has a lease has it alone', what);
    });
    const passes = new PassesWatched(!isTroubled(plan), note);
    const onPut: OnPut = (collection, document, before) => {
      leases(collection, document, before);
      this.#records.put(collection, document, before);
      passes.put(collection, document, before);
    };
    this.#installation = new Installation(this.#scheduler, bundle, {
      ...{ onPut, times: plan },
      onRead: (collection, found) => passes.read(collection, found),
    });
    for (const fault of plan.faults)
      this.#faults.set(fault.atCommand, [...(this.#faults.get(fault.atCommand) ?? []), fault]);
  }

  /** Nothing goes on: what was loaded may be taken again. */
  async end(): Promise<void> {
    this.#installation.end();
    await settled();
  }

  outcome(): Outcome {
    const mistakes = this.#installation.complaints.filter((line) => MISTAKE.test(line));
    return {
      problems: [
        ...this.problems,
        ...mistakes.map((what) => ({ promise: 'no mistakes of ours', what }) as const),
      ],
      digest: this.#scheduler.digest(),
      commands: this.#installation.commands,
      virtualMs: this.#scheduler.time,
      lines: this.#scheduler.lines,
      answers: this.#answers,
    };
  }

  async all(): Promise<void> {
    const { processes, phases } = this.#plan;
    const started = Promise.all(processes.map((kind) => this.#start(kind)));
    await this.#scheduler.until(started, 'the start', PHASE_WITHIN_MS);
    await this.#scheduler.until(this.#populate(), 'the beginning', PHASE_WITHIN_MS);
    for (const reader of this.#members.slice(0, this.#plan.watchers)) this.#watch(reader);
    this.#keep(this.#host());
    for (const { operations } of phases) {
      this.#installation.conditions = this.#plan;
      this.#installation.onCommand = (machine, isWrite) => this.#mishap(machine.name, isWrite);
      const all = Promise.all(operations.map((operation) => this.#client(operation)));
      await this.#scheduler.until(all, 'a phase', PHASE_WITHIN_MS);
      this.#installation.conditions = CALM;
      this.#installation.onCommand = () => null;
      await this.#quiet();
      if (this.problems.length > 0) return;
    }
  }

  #watch(reader: string): void {
    if (this.#watchers.length >= MOST_WATCHERS) return;
    const watcher = new Watcher(this.#around, reader);
    this.#watchers.push(watcher);
    this.#keep(watcher.run());
  }

  /** Goes on beside; an error is a problem like others. */
  #keep(work: Promise<void>): void {
    this.#kept.push(
      work.catch((error: unknown) => {
        this.problems.push({
          promise: 'no mistakes of ours',
          what: String(error instanceof Error ? error.stack : error),
        });
      }),
    );
  }

  /** What a command takes at most. */
  get #slowestMs(): number {
    const { slowOneIn, slowMs, faults } = this.#plan;
    const own = this.#plan.phases.flatMap(({ operations }) =>
      operations.map(({ mishap }) => mishap?.forMs ?? 0),
    );
    const stalls = [...own, ...faults.map((fault) => ('forMs' in fault ? fault.forMs : 0))];
    return Math.max(slowOneIn === 0 ? 0 : 2 * slowMs, ...stalls);
  }

  get #isTroubled(): boolean {
    const { faults, phases } = this.#plan;
    return (
      faults.length > 0 ||
      phases.some(({ operations }) => operations.some(({ mishap }) => mishap !== undefined))
    );
  }

  get #around(): Around {
    return { scheduler: this.#scheduler, api: () => this.#api(), pause: (ms) => this.#pause(ms) };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#scheduler.after(ms, resolve));
  }

  async #start(kind: Kind): Promise<void> {
    const machine = this.#installation.machine(
      kind,
      this.#scheduler.random.pick([0, 0, -60, 60, -3_000, 3_000]),
    );
    const died = new Promise<null>((resolve) => machine.onDeath(() => resolve(null)));
    machine.onDeath(() => {
      const at = this.#running.findIndex((one) => one.machine === machine);
      if (at !== -1) this.#running.splice(at, 1);
      const afterMs = this.#scheduler.random.next() * RESTARTED_AFTER_MS;
      this.#keep(this.#pause(afterMs).then(() => this.#start(kind)));
    });
    const started = this.#installation.start(machine, kind).catch((error: unknown) => {
      if (!isAway(error)) throw error;
      // Whatever started it starts it once more.
      this.#scheduler.note(`${machine.name} cannot start: ${String(error)}`);
      machine.die();
      return null;
    });
    const running = await Promise.race([started, died]);
    if (running !== null && !machine.isDead) this.#running.push(running);
  }

  async #api(): Promise<Running> {
    for (;;) {
      const some = this.#running.filter(({ kind }) => kind !== 'worker');
      if (some.length > 0) return this.#scheduler.random.pick(some);
      await this.#pause(50);
    }
  }

  async #populate(): Promise<void> {
    const { services, identity, session } = await this.#api();
    const service = identity('importer', 'service');
    await services.upsertMembers(
      service,
      [...STRANGERS, ...this.#members].map((memberId, n) => ({
        ...{
          memberId,
          name: memberId,
          teamId: n % 2 === 0 ? 't0' : 't1',
          departmentId: n % 3 === 0 ? 'd0' : null,
        },
        supervisorId: null,
      })),
    );
    for (const [n, memberId] of this.#members.entries())
      await services.follow(session(memberId), this.#members[(n + 1) % this.#members.length] ?? '', 0);
    for (const actorId of this.#members.slice(0, 2)) {
      const { action } = await services.publishAction(service, {
        ...{ actorId, scope: 'PUBLIC' },
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: '0' } },
      });
      this.#found.actions.push(action.id);
      const of = { actionId: action.id, kind: 'COMMENT', text: 'First' } as const;
      const { interaction } = await services.addInteraction(session(actorId), of);
      this.#found.interactions.push(interaction.id);
    }
  }

  /** What befalls a write of an operation, if anything does. */
  #ownMishap(process: string, isWrite: boolean): Mishap | null {
    const own = this.#own.get(this.#scheduler.cause ?? -1);
    if (own === undefined || !isWrite || own.left-- > 0) return null;
    this.#own.delete(this.#scheduler.cause ?? -1);
    this.#scheduler.note(`fault of its own ${JSON.stringify(own.mishap)} at ${process}`);
    return own.mishap;
  }

  #mishap(process: string, isWrite: boolean): Mishap | null {
    const faults = this.#faults.get(this.#commands++) ?? [];
    const own = this.#ownMishap(process, isWrite);
    for (const fault of faults) {
      this.#scheduler.note(`fault ${JSON.stringify(fault)} at ${process}`);
      if (fault.kind === 'hangup')
        this.#watchers[fault.watcher % Math.max(1, this.#watchers.length)]?.hangUp();
      if (fault.kind === 'away' || fault.kind === 'full')
        this.#offUntil[fault.kind] = this.#scheduler.time + fault.forMs;
      const one = this.#running.find(({ machine }) => machine.name === process);
      if (one === undefined) continue;
      if (fault.kind === 'clock') one.machine.aheadMs += fault.byMs;
      if (fault.kind === 'freeze') one.machine.freeze(fault.forMs);
    }
    if (this.#scheduler.time < this.#offUntil.away) return { kind: 'cut', isBefore: true };
    if (isWrite && this.#scheduler.time < this.#offUntil.full) return { kind: 'full', isBefore: true };
    return faults.find((fault) => 'isBefore' in fault) ?? own;
  }

  /** One operation, sent again until it is answered. */
  async #client(operation: Operation): Promise<void> {
    const number = (this.#sent += 1);
    if (operation.mishap !== undefined)
      this.#own.set(number, { mishap: operation.mishap, left: operation.mishap.atWrite });
    await new Promise<void>((resolve) => void this.#scheduler.after(operation.at, resolve, number));
    const [actions, interactions] = [[...this.#found.actions], [...this.#found.interactions]];
    const stage: Stage = {
      ...{ members: this.#members, actions, interactions },
      add: (what, id) => {
        if (!this.#found[what].includes(id)) this.#found[what].push(id);
      },
      watch: (reader) => this.#watch(reader),
    };
    const [from, said] = [this.#scheduler.time, new Map<string, Promised>()];
    const sent: Sent = {
      ...{ ...operation, key: `key-${String(number)}` },
      says: (all) => {
        for (const one of all) if (!said.has(one.of)) said.set(one.of, this.#promises.sent(one, from));
      },
    };
    this.#scheduler.note(`client ${String(number)} ${JSON.stringify(operation)}`);
    let [code, isAgain] = ['', false];
    while (code === '') {
      const process = await this.#api();
      this.#scheduler.note(`client ${String(number)} asks ${process.machine.name}`);
      const died = new Promise<'DIED'>((resolve) => process.machine.onDeath(() => resolve('DIED')));
      const answer = await Promise.race([this.#once(process, operation, { stage, sent }), died]);
      this.#scheduler.note(`client ${String(number)} gets ${answer}`);
      if (answer !== 'DIED' && answer !== 'UNAVAILABLE') code = answer;
      else isAgain = true;
      if (code === '') await this.#pause(this.#scheduler.random.next() * 300);
    }
    const { repeatAfterMs } = operation;
    if (repeatAfterMs !== undefined && isKeyed(operation))
      this.#keep(this.#pause(repeatAfterMs).then(() => this.#repeated(operation, { stage, sent })));
    this.#answers.set(code, (this.#answers.get(code) ?? 0) + 1);
    for (const promised of said.values()) {
      // What was not answered may still be on its way.
      if (isAgain) promised.lateUntil = this.#scheduler.time + 2 * this.#slowestMs;
      // What was hidden is given again, and its author is refused.
      // Of several calls the first may have been carried out.
      const isWhole = promised.is !== '*';
      if (isWhole && code !== 'OK' && code !== 'CONFLICT' && !isAgain) promised.isRefused = true;
      if (code !== 'OK' && code !== 'CONFLICT') continue;
      promised.until = this.#scheduler.time;
      promised.isAnswered = code === 'OK';
    }
  }

  /** The network brings what was answered once more, and nobody waits for the answer. */
  async #repeated(operation: Operation, call: { readonly stage: Stage; readonly sent: Sent }): Promise<void> {
    const process = await this.#api();
    this.#scheduler.note(`${call.sent.key} comes again at ${process.machine.name}`);
    const died = new Promise<'DIED'>((resolve) => process.machine.onDeath(() => resolve('DIED')));
    const sent = { ...call.sent, says: () => undefined };
    await Promise.race([this.#once(process, operation, { ...call, sent }), died]);
  }

  async #once(
    process: Running,
    { do: what }: Operation,
    { stage, sent }: { readonly stage: Stage; readonly sent: Sent },
  ): Promise<string> {
    try {
      await OPERATIONS[what].run(process, stage, sent);
      return 'OK';
    } catch (error) {
      if (error instanceof Nothing) return 'NOTHING';
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (code === 'UNAVAILABLE' || REFUSALS.has(code)) return code;
      if (isAway(error) && this.#isTroubled) return 'UNAVAILABLE';
      const stack = error instanceof Error ? (error.stack ?? '') : String(error);
      this.problems.push({ promise: 'no mistakes of ours', what: `${what}: ${stack}` });
      return 'MISTAKE';
    }
  }

  /** A program of the host that reads all events, in small pages. */
  async #host(): Promise<void> {
    let after: string | null = null;
    for (;;) {
      const process = await this.#api();
      const died = new Promise<null>((resolve) => process.machine.onDeath(() => resolve(null)));
      const page: Awaited<ReturnType<typeof process.services.readHostEvents>> | null = await Promise.race([
        process.services
          .readHostEvents(process.identity('host', 'service'), { first: 3, after })
          .catch(() => null),
        died,
      ]);
      if (page !== null) {
        this.#hostEvents.push(...page.edges.map(({ node }) => node.id));
        after = page.end ?? after;
      }
      await this.#pause(page?.hasMore === true ? 5 : HOST_POLLS_MS);
    }
  }

  /** The first that is not done; `null`: nothing. */
  #leftToDo(): string | null {
    const { server } = this.#installation;
    for (const [what, collection, filter] of TO_DO) {
      const count = server.count(collection, filter);
      if (count > 0) return `${what} ${String(count)}`;
    }
    const unread = server.count('hostEvents', {}) - this.#hostEvents.length;
    return unread > 0 ? `events that the host has not read ${String(unread)}` : null;
  }

  /** Lets all that is left be done, and checks. */
  async #quiet(): Promise<void> {
    const wait = async (): Promise<void> => {
      const settlesMs = SETTLES_MS + this.#slowestMs;
      for (let quietMs = 0; quietMs < settlesMs; quietMs += LOOK_EVERY_MS) {
        await this.#pause(LOOK_EVERY_MS);
        if (this.#running.length < this.#plan.processes.length || this.#leftToDo() !== null) quietMs = 0;
      }
    };
    try {
      await this.#scheduler.until(wait(), 'what is left to do', QUIET_WITHIN_MS);
    } catch (error) {
      this.problems.push({
        promise: 'work ends',
        what: `${String(error)}: ${String(this.#leftToDo())}`,
      });
      return;
    }
    const observer = await (this.#observer ??= this.#installation.observer());
    const found = problemsOf({
      ...{ observer, readers: this.#members, watchers: this.#watchers },
      apis: this.#running.filter(({ kind }) => kind !== 'worker'),
      isDatabaseOff: this.#plan.faults.some(({ kind }) => kind === 'away' || kind === 'full'),
      ...{ promises: this.#promises, hostEvents: this.#hostEvents, records: this.#records },
    });
    this.problems.push(...(await this.#scheduler.until(found, 'the checks', QUIET_WITHIN_MS)));
  }
}

/** Calls are cut off and sent again. */
function isTroubled({ phases, faults }: Plan): boolean {
  const own = phases.flatMap(({ operations }) => operations.flatMap(({ mishap }) => mishap?.kind ?? []));
  return [...own, ...faults.map(({ kind }) => kind)].some((kind) => CUTTING.has(kind));
}

const CUTTING = new Set(['death', 'cut', 'away', 'full', 'clock']);
const EXISTS = { $exists: true };
/** What is recorded as not done, where. */
const TO_DO: readonly (readonly [what: string, collection: string, filter: Document])[] = [
  ['fan-outs', 'actions', { 'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] } }],
  // The clocks of processes differ, so what expires while they are compared is not the same for all.
  ['actions that expire', 'actions', { isDeleted: false, expiresAt: EXISTS }],
  ['interactions', 'interactions', { settling: EXISTS }],
  ['follows', 'follows', { settling: EXISTS }],
  ['rulings', 'reports', { 'ruling.dueSince': EXISTS }],
  ['erasures', 'erasures', { state: { $ne: 'DONE' } }],
  ['snoozes', 'itemMarks', { lifting: EXISTS }],
  ['rebuilds', 'feeds', { 'rebuild.due': EXISTS }],
  ['renames of members', 'members', { 'rename.due': EXISTS }],
  ['renames', 'refs', { 'rename.due': EXISTS }],
  ['events of actions', 'actions', { unsentAt: EXISTS }],
  ['events of interactions', 'interactions', { unsentAt: EXISTS }],
  ['events of follows', 'follows', { unsentAt: EXISTS }],
  ['events of reports', 'reports', { unsentAt: EXISTS }],
  ['events to move', 'eventOutbox', {}],
];

import type { FollowPair } from '../storage/documents/follow-document.ts';
import { setMaxListeners } from 'node:events';
import type { Config } from '../config/config.ts';
import type { UserId } from '../domain/action.ts';
import type { HostEvent, UnreadFacts } from '../domain/host-event.ts';
import type { NewsfeedItem } from '../domain/newsfeed-item.ts';
import type { Context } from '../feed/context.ts';
import { clock } from '../lib/clock.ts';
import { Gate } from '../lib/gate.ts';
import type { Next } from '../lib/poll-loop.ts';
import type { DueWork, WorkSignal } from '../live/work-signal.ts';
import type { DueDocuments, Wanted } from '../storage/due/due-work.ts';
import { logJobFailed } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { BackgroundWorker } from './background-worker.ts';
import type { LaneGate } from '../fan-out/lane-gate.ts';

export interface JobSetup {
  readonly core: Context;
  readonly config: Config;
  /** Unique among all processes. */
  readonly workerId: string;
  /** Decides which chunk of background work runs next. */
  readonly gate: LaneGate;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** A member's unread count by the rules of the feed. Does not count as reading. */
  readonly countUnread: (memberId: UserId) => Promise<UnreadFacts>;
  /** The topmost unread items, at most so many. Does not count as reading. */
  readonly topUnread: (memberId: UserId, most: number) => Promise<readonly NewsfeedItem[]>;
  /** Carries out the rulings on reports of calls that were interrupted. */
  readonly carryOutRulings: (now: Date) => Promise<void>;
  /** Ends a follow between two between whom there is a block. */
  readonly endBlockedFollow: (pair: FollowPair) => Promise<void>;
  readonly eventNotes: readonly NoteEvents[];
  readonly digestTimes: readonly DigestTime[];
  /** Wakes the jobs of this process that read the log of events. */
  readonly eventsMoved: WorkSignal;
}

/** Notes events that are moved to the log. Called again for the same events if that was interrupted. */
export type NoteEvents = (setup: JobSetup, events: readonly HostEvent[], now: Date) => Promise<void>;

/** From when a member may be sent a digest; `null`: not at all. */
export type DigestTime = (core: Context, memberId: UserId, now: Date) => Promise<Date | null>;

/** Declares a job, or none or several, as the settings say. Takes one file, and one line in the list of jobs. */
export type DeclareJob = (setup: JobSetup) => Job | readonly Job[];

/** Work in the background. Any number of processes may run it: claims decide who does what. */
export interface Job {
  /** Names it in logs. */
  readonly name: string;
  /** Longest time between two rounds, in milliseconds. */
  readonly every: number;
  /** Shortest time between the begins of two rounds, unless there is more to do, in milliseconds. Default: none. */
  readonly atMostEvery?: number;
  /** Begins a round at once when work of this kind is announced. Default: none does. */
  readonly wokenBy?: { readonly signal: WorkSignal; readonly work: DueWork | 'any' };
  /** No round begins unless any of these is due, which one query finds out for all jobs. Default: each looks itself. */
  readonly due?: readonly DueDocuments[];
  /** `true`: there is more, continue at once. `false`: wait. A number: wait at most so many milliseconds. */
  run(round: Round): Promise<Next>;
  /** Called once, after the last round. An error is logged. */
  close?(): Promise<void>;
}

export interface Round {
  readonly now: Date;
  /** Aborted when the process ends: then work under way is released or ended early. */
  readonly signal: AbortSignal;
  /** Does one of several pieces. Reports its error, so that the others go on. Resolves to whether it succeeded. */
  readonly apart: (piece: () => Promise<unknown>) => Promise<boolean>;
  /** Reports an error of something that the round did not wait for. */
  readonly failed: (error: unknown) => void;
  /** Begins another round at once. */
  readonly wake: () => void;
}

/**
 * A round that does due pieces of work, up to so many, one after another or some beside each other. A piece that fails is
 * reported, and the others go on; it must not be due again at once.
 */
export function eachDue<T>({
  batch,
  beside = 1,
  due,
  run,
}: {
  readonly batch: number;
  /** Pieces that are done beside each other. */
  readonly beside?: number;
  /** Finds, or claims, what is due. */
  readonly due: (now: Date, limit: number) => Promise<readonly T[]>;
  readonly run: (piece: T, round: Round) => Promise<unknown>;
}): Job['run'] {
  return async (round) => {
    const pieces = await due(round.now, batch);
    let haveAllSucceeded = true;
    const gate = new Gate(beside);
    const done = pieces.map((piece) =>
      gate.run(async () => {
        if (round.signal.aborted) return;
        if (!(await round.apart(() => run(piece, round)))) haveAllSucceeded = false;
      }),
    );
    await Promise.all(done);
    return !round.signal.aborted && pieces.length === batch && haveAllSucceeded;
  };
}

interface JobRunnerOptions {
  readonly logger: Logger;
  /** Asked for jobs that say what is due. Default: they look themselves. */
  readonly isDue?: (job: string) => Promise<boolean>;
}

/** Runs a job, round after round. Errors are logged, and the job continues after its poll interval. */
export class JobRunner extends BackgroundWorker {
  readonly #job: Job;
  readonly #options: JobRunnerOptions;
  readonly #stopping = new AbortController();
  #hasMore = false;
  /** On the `performance.now()` clock. */
  #nextRoundAt = 0;
  #stopped: Promise<void> | null = null;

  constructor(job: Job, options: JobRunnerOptions) {
    const { every, wokenBy } = job;
    super({
      pollMs: every,
      ...(wokenBy === undefined ? {} : { workSignal: wokenBy.signal, work: wokenBy.work }),
    });
    // As many as the job has pieces under way; each takes its listener back.
    setMaxListeners(0, this.#stopping.signal);
    this.#job = job;
    this.#options = options;
  }

  /** One round. Rejects with the error that ended it. */
  round(now: Date = clock.now()): Promise<Next> {
    return this.#job.run({
      now,
      signal: this.#stopping.signal,
      apart: (piece) => this.apart(piece),
      failed: (error) => this.report(error),
      wake: () => this.wake(),
    });
  }

  override stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await super.stop();
    // While the database is away a lease cannot be released: it expires, and the process ends as it was asked to.
    await this.apart(async () => this.#job.close?.());
  }

  protected override async work(): Promise<Next> {
    const { name, due, atMostEvery = 0 } = this.#job;
    const { isDue } = this.#options;
    const waitMs = this.#nextRoundAt - performance.now();
    if (waitMs > 0) return waitMs;
    const startedAt = performance.now();
    if (due !== undefined && isDue !== undefined && !this.#hasMore && !(await isDue(name))) return false;
    this.#hasMore = false;
    const next = await this.round();
    this.#hasMore = next === true;
    if (!this.#hasMore) this.#nextRoundAt = startedAt + atMostEvery;
    return next;
  }

  protected override failed(err: unknown): void {
    logJobFailed(this.#options.logger, { job: this.#job.name, err });
  }
}

/** Keeps notifications of due times within a second, including the work itself. */
const LONGEST_MS = 500;

/** Poll interval for work that becomes due by the clock and so has no signal: half of that for other work. */
export function pollByTheClockMs(pollMs: number): number {
  return Math.min(pollMs / 2, LONGEST_MS);
}

/** How long a look counts for all who ask: the polls of a process begin at about the same time. */
const SHARED_MS = 50;

/**
 * One look at the database for the jobs of a process that have no signal. A job searches only if there is something to find,
 * so that an idle process sends one command instead of one or more for each job.
 */
export class DueLooks {
  readonly #look: (now: Date) => Promise<ReadonlySet<string>>;
  #last: { readonly at: number; readonly names: Promise<ReadonlySet<string>> } | null = null;

  /** @param look the names of jobs that have something to do by then */
  constructor(look: (now: Date) => Promise<ReadonlySet<string>>) {
    this.#look = look;
  }

  /** Whether the job had anything to do at most 50 ms ago. Rejects with errors of the database. */
  async isDue(job: string): Promise<boolean> {
    const now = performance.now();
    if (this.#last === null || now - this.#last.at >= SHARED_MS)
      this.#last = { at: now, names: this.#look(clock.now()) };
    return (await this.#last.names).has(job);
  }
}

/** The due documents that jobs look for together. */
export function wantedBy(jobs: readonly Job[]): readonly Wanted[] {
  return jobs.flatMap(({ name, due = [] }) => due.map((documents) => ({ name, ...documents })));
}

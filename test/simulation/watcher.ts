import type { FeedEvent } from '../../src/core/shapes.ts';
import { OUT_OF_SPACE, type Running } from './installation.ts';
import type { Scheduler } from './scheduler.ts';

/** What a client needs of what is around it. */
export interface Around {
  readonly scheduler: Scheduler;
  /** A process that answers; waits for one. */
  api(): Promise<Running>;
  pause(ms: number): Promise<void>;
}

const PAGE = 100;

/** A client that keeps one reader's feed by events, and resumes where it was when its process dies. */
export class Watcher {
  readonly reader: string;
  /** Relevancies by action. */
  shown = new Map<string, number>();
  unread: number | null = null;
  readonly faults: string[] = [];
  readonly resyncs: string[] = [];
  #cursor: string | null = null;
  #hangUp = new AbortController();
  #isOver = false;
  readonly #around: Around;

  constructor(around: Around, reader: string) {
    this.#around = around;
    this.reader = reader;
  }

  /** Loses its connection. */
  hangUp(): void {
    this.#hangUp.abort();
  }

  end(): void {
    this.#isOver = true;
    this.#hangUp.abort();
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      const process = await this.#around.api();
      this.#hangUp = new AbortController();
      const died = new Promise<'died'>((resolve) => process.machine.onDeath(() => resolve('died')));
      try {
        await Promise.race([this.#watch(process), died]);
      } catch (error) {
        this.#around.scheduler.note(`watcher of ${this.reader}: ${String(error)}`);
        this.#checkError(error);
      }
      this.#hangUp.abort();
      await this.#around.pause(50 + this.#around.scheduler.random.below(200));
    }
  }

  #checkError(error: unknown): void {
    if (!isAway(error)) this.faults.push(`the watch of ${this.reader} ended: ${String(error)}`);
  }

  async #watch(process: Running): Promise<void> {
    const { signal } = this.#hangUp;
    const after = this.#cursor;
    const source = await process.services.watchFeed(process.identity(this.reader), {
      ...{ signal, withUnread: true },
      ...(after === null ? {} : { after }),
    });
    for await (const event of source) {
      if (signal.aborted) return;
      await this.#take(process, event, signal);
    }
  }

  async #take(process: Running, event: FeedEvent, signal: AbortSignal): Promise<void> {
    const { scheduler } = this.#around;
    scheduler.note(`watcher of ${this.reader} takes ${event.kind}`);
    const isFirst = event.kind === 'ready' && this.#cursor === null;
    if (event.kind === 'resync') this.resyncs.push(event.reason);
    if (event.kind === 'resync' || isFirst) {
      const shown = await wholeFeed(process, this.reader);
      const { count } = await process.services.countUnread(process.session(this.reader));
      // Who has lost the connection meanwhile begins again where they were.
      if (signal.aborted) return;
      this.shown = shown;
      this.unread = count;
    } else if (event.kind === 'removed') this.shown.delete(event.actionId);
    else if (event.kind === 'unread') this.unread = event.unread.count;
    else if (event.kind !== 'ready') this.shown.set(event.item.actionId, event.item.relevancy.getTime());
    this.#cursor = event.cursor;
  }
}

/** The database cannot be reached. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    ('code' in error && (error.code === 'UNAVAILABLE' || error.code === OUT_OF_SPACE)) ||
    /^Mongo(?:Network|ServerSelection|Bulk)/.test(error.name)
  );
}

/** Page after page. */
export async function wholeFeed(process: Running, reader: string): Promise<Map<string, number>> {
  const shown = new Map<string, number>();
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof process.services.readFeed>> = await process.services.readFeed(
      process.session(reader),
      { first: PAGE, after },
    );
    for (const { node } of page.edges)
      if (!shown.has(node.actionId)) shown.set(node.actionId, node.relevancy.getTime());
    if (!page.hasMore) return shown;
    after = page.end;
  }
}

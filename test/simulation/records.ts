import type { Document } from 'mongodb';
import type { PromiseName } from './promises.ts';

type Fault = (promise: PromiseName, what: string) => void;

/** A follow that is begun again within so long is not news; see docs/notifications.md. */
const NEWS_AFTER_MS = 90 * 86_400_000;

/** What does not grow any more once an action is deleted. */
const EMPTIED = ['latest', 'engagement.comments', 'engagement.likes', 'engagement.reshares'];

/**
 * Watches each write of what has happened, since the reference model is made of the records and believes them: what they may say
 * after what they said before, and which events hosts are to get of the difference.
 */
export class Records {
  /** By type and subject: how often it has happened. */
  readonly happened = new Map<string, number>();
  readonly #fault: Fault;
  readonly #now: () => number;

  /** @param now milliseconds of the wall clock */
  constructor(now: () => number, fault: Fault) {
    this.#now = now;
    this.#fault = fault;
  }

  /** The same as before, and not because it was changed a moment ago. */
  #isOld(is: unknown, was: unknown): boolean {
    const ageMs = is instanceof Date ? this.#now() - is.getTime() : Infinity;
    return isSame(is, was) && ageMs > A_MOMENT_MS;
  }

  put(collection: string, document: Document | null, before: Document | null): void {
    if (collection === 'actions') this.#action(document, before);
    if (collection === 'interactions') this.#interaction(document, before);
    if (collection === 'follows') this.#follow(document, before);
    if (collection === 'reports') this.#report(document, before);
  }

  #happens(type: string, { _id }: Document): void {
    const key = `${type} ${String(_id)}`;
    this.happened.set(key, (this.happened.get(key) ?? 0) + 1);
  }

  #action(is: Document | null, was: Document | null): void {
    if (is === null) return;
    if (was === null) {
      this.#happens('action.published', is);
      return;
    }
    const id = String(is['_id']);
    if (was['isDeleted'] === true) {
      // It is emptied.
      for (const field of EMPTIED)
        if (Number(at(is, field) ?? 0) > Number(at(was, field) ?? 0))
          this.#fault('what is deleted stays as it is', `${field} of ${id} has risen since it was deleted`);
      return;
    }
    if (is['isDeleted'] === true) this.#happens('action.deleted', is);
    else if (is['isHidden'] === true && was['isHidden'] !== true) this.#happens('action.hidden', is);
    else if (is['isHidden'] !== true && was['isHidden'] === true) {
      this.#happens('action.unhidden', is);
      if (this.#isOld(is['shownAt'], was['shownAt']))
        this.#fault(
          'what is shown again is news',
          `action ${id} has been shown again, and nothing says when`,
        );
    }
    for (const field of ['version', 'audienceRev', 'fanOut.version', 'ruling']) {
      const [now = 0, before = 0] = [at(is, field), at(was, field)] as [number?, number?];
      if (now < before)
        this.#fault('numbers only rise', `${field} of ${id} went from ${String(before)} to ${String(now)}`);
    }
    if ((is['version'] ?? 1) !== (was['version'] ?? 1)) this.#happens('action.updated', is);
  }

  #interaction(is: Document | null, was: Document | null): void {
    if (is === null) return;
    const [state, before] = [is['state'] as unknown, was?.['state'] as unknown];
    const isShown = before === 'HIDDEN' && state === undefined;
    if (was === null || isShown || (before === 'REMOVED' && state !== 'REMOVED'))
      this.#happens('interaction.recorded', is);
    if (was !== null && state === 'REMOVED' && before !== 'REMOVED') this.#happens('interaction.removed', is);
    if (isShown && this.#isOld(is['shownAt'], was?.['shownAt']))
      this.#fault(
        'what is shown again is news',
        `interaction ${String(is['_id'])} has been shown again, and nothing says when`,
      );
  }

  #follow(is: Document | null, was: Document | null): void {
    const [isActive, wasActive] = [is?.['active'] === true, was?.['active'] === true];
    if (is !== null && isActive && !wasActive) this.#happens('follow.opened', is);
    if (was !== null && !isActive && wasActive) this.#happens('follow.closed', was);
    const [opened, before] = [is?.['openedAt'], was?.['openedAt']] as [Date?, Date?];
    const apartMs =
      opened === undefined || before === undefined ? Infinity : opened.getTime() - before.getTime();
    if (apartMs !== 0 && apartMs < NEWS_AFTER_MS)
      this.#fault(
        'a follow is news once',
        `follow ${String(is?.['_id'])} is news again after ${String(apartMs)} ms`,
      );
  }

  #report(is: Document | null, was: Document | null): void {
    if (is === null) return;
    const [count, before] = [is, was].map((one) => ((one?.['reports'] ?? []) as unknown[]).length);
    if ((count ?? 0) > (before ?? 0)) this.#happens('report.created', is);
    const [isOver, wasOver] = [is, was].map(
      (one) => one?.['state'] === 'RESOLVED' || one?.['state'] === 'DISMISSED',
    );
    if (isOver === true && wasOver !== true) this.#happens('report.resolved', is);
    const [number = 0, earlier = 0] = [
      at(is, 'ruling.number'),
      was === null ? 0 : at(was, 'ruling.number'),
    ] as [number?, number?];
    if (number < earlier) this.#fault('numbers only rise', `the ruling of ${String(is['target'])} went back`);
    const [reviewed = -1, version = 0] = [is['reviewed'], is['version']] as [number?, number?];
    const isRuled = number > earlier && at(is, 'ruling.verdict') === 'WITHHELD';
    if (isRuled && reviewed >= version)
      this.#fault('what a moderator has looked at is not hidden by reports', String(is['target']));
  }
}

function at(document: Document, path: string): unknown {
  let value: unknown = document;
  for (const name of path.split('.')) value = (value as Document | undefined)?.[name];
  return value;
}

/** By which clocks are apart, too. */
const A_MOMENT_MS = 30_000;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

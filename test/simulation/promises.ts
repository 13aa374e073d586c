import type { Said } from './operations.ts';

/** What is promised, as the docs say it. */
export const PROMISES = {
  'feeds are as defined': 'docs/feeds.md',
  'unread counts are as defined': 'docs/feeds.md',
  'notifications are as defined': 'docs/notifications.md',
  'counts are those of what is recorded': 'docs/operations.md',
  'live lists equal pages': 'src/live/README.md',
  'events come in order': 'src/live/README.md',
  'a worker may die at any point, and nothing is lost': 'docs/operations.md',
  'an API process may die, and nothing that was acknowledged is lost': 'docs/operations.md',
  'the database may be away or full, and nothing that was acknowledged is lost': 'docs/operations.md',
  'who has a lease has it alone': 'docs/operations.md',
  'hosts get each event once': 'docs/webhooks.md',
  'what is hidden is in the queue or was hidden by a moderator': 'docs/safety.md',
  'what a moderator has looked at is not hidden by reports': 'docs/safety.md',
  'a block ends follows, and nothing lifts across it': 'docs/safety.md',
  'what is shown again is news': 'docs/feeds.md',
  'a follow is news once': 'docs/notifications.md',
  'a retry changes nothing': 'docs/backend.md',
  'what is deleted stays as it is': 'docs/operations.md',
  'what changes during work is work again': 'docs/architecture.md',
  'counts differ by what is on its way': 'docs/operations.md',
  'numbers only rise': 'docs/architecture.md',
  'work ends': 'docs/operations.md',
  'no mistakes of ours': 'docs/operations.md',
} as const;
export type PromiseName = keyof typeof PROMISES;

interface Promised extends Said {
  readonly from: number;
  /** When it was answered; what came after is later. */
  until: number;
  /** An attempt that nobody waits for any more may still do it until then. */
  lateUntil: number;
  isAnswered: boolean;
  isRefused: boolean;
}

/** What clients were told is so, and what may be so now. */
export class Promises {
  readonly #said = new Map<string, Promised[]>();

  /** @returns to be told of its end */
  sent(said: Said, from: number): Promised {
    const promised: Promised = {
      ...said,
      from,
      until: Infinity,
      lateUntil: from,
      isAnswered: false,
      isRefused: false,
    };
    this.#said.set(said.of, [...(this.#said.get(said.of) ?? []), promised]);
    return promised;
  }

  /** All that it may have been at some time between the two; empty: nobody has said anything. `*`: anything. */
  during(of: string, from: number, until: number): ReadonlySet<string> {
    const all = (this.#said.get(of) ?? []).filter((one) => !one.isRefused && one.from <= until);
    const left = all.filter(
      (one) =>
        !all.some(
          (later) =>
            later.isAnswered && later.until < from && later.from > Math.max(one.until, one.lateUntil),
        ),
    );
    const isOpen = !all.some((one) => one.isAnswered && one.until < from);
    return new Set([...left.map(({ is }) => is), ...(isOpen && left.length > 0 ? ['*'] : [])]);
  }

  /** What was acknowledged, about things of which this is what they are called first. */
  *acknowledged(
    first: string,
  ): Generator<{ readonly of: string; readonly from: number; readonly until: number }> {
    for (const [of, said] of this.#said)
      if (of.startsWith(first))
        for (const { isAnswered, from, until } of said) if (isAnswered) yield { of, from, until };
  }

  /** By what it is about: all that it may be now, unless anything may be. Where nobody was answered there is none. */
  *now(): Generator<{ readonly of: string; readonly allowed: readonly string[] }> {
    for (const [of, said] of this.#said) {
      const all = said.filter(({ isRefused }) => !isRefused);
      if (all.some(({ is }) => is === '*') || !all.some(({ isAnswered }) => isAnswered)) continue;
      const left = all.filter(
        (one) => !all.some((later) => later.isAnswered && later.from > Math.max(one.until, one.lateUntil)),
      );
      yield { of, allowed: [...new Set(left.map(({ is }) => is))] };
    }
  }
}

export type { Promised };

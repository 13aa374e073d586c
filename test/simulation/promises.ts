import type { Said } from './operations.ts';

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

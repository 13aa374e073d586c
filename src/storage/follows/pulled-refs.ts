import type { RefId } from '../../domain/action.ts';
import type { RefsRepository } from '../directory/refs.ts';

/**
 * Refresh interval. A ref is announced as pulled several intervals before its first action is not pushed, so no process is
 * late.
 */
const REFRESH_MS = 5_000;
export const PULL_NOTICE_MS = 3 * REFRESH_MS;

export interface PulledRefs {
  /** Refs of which some actions may not have been pushed. */
  known(): Promise<ReadonlySet<RefId>>;
  /** Refs whose new actions are not pushed now. */
  active(now: Date): Promise<ReadonlySet<RefId>>;
}

interface Pulled {
  /** Since when each ref is pulled; `null`: only its old actions are, and new ones are pushed again. */
  readonly since: ReadonlyMap<RefId, Date | null>;
  readonly known: ReadonlySet<RefId>;
}

interface Reading {
  readonly at: number;
  readonly pulled: Promise<Pulled>;
}

/** Refs above the follower threshold, read at most every five seconds. @param refreshMs for tests. */
export function pulledRefs(refs: RefsRepository, refreshMs = REFRESH_MS): PulledRefs {
  let reading: Reading | null = null;
  async function read(): Promise<Pulled> {
    const since = await refs.pulled();
    return { since, known: new Set(since.keys()) };
  }
  async function current(): Promise<Pulled> {
    const now = performance.now();
    if (reading === null || now - reading.at > refreshMs) {
      const fresh: Reading = { at: now, pulled: read() };
      reading = fresh;
      fresh.pulled.catch(() => {
        if (reading === fresh) reading = null;
      });
    }
    return reading.pulled;
  }
  return {
    known: async () => (await current()).known,
    active: async (now) =>
      new Set(
        [...(await current()).since].flatMap(([refId, since]) =>
          since !== null && since.getTime() <= now.getTime() ? [refId] : [],
        ),
      ),
  };
}

import type { Document } from 'mongodb';
import type { PromiseName } from './promises.ts';

type Fault = (promise: PromiseName, what: string) => void;

/** What a worker has found when it claimed something. */
interface Seen {
  readonly version: number;
  readonly audienceRev: number;
}

/** What an interaction was when it was written last. */
interface Counted {
  readonly kind: string;
  readonly isVisible: boolean;
  readonly isOpen: boolean;
}

const COUNTERS = { COMMENT: 'comments', LIKE: 'likes', RESHARE: 'reshares' } as const;

/**
 * Watches each write of work on actions and feeds: what has changed since a worker has claimed it is not called done, and is left for
 * the next who claims it; and counts differ from what is recorded by no more than what is on its way. At quiet points it would often
 * not show, because a later pass corrects it.
 */
export class PassesWatched {
  readonly #fault: Fault;
  readonly #isCertain: boolean;
  readonly #seen = new Map<string, Map<string, Seen[]>>();
  /** Those that are hidden lose count until the pass that shows them again. */
  readonly #uncounted = new Set<string>();
  readonly #interactions = new Map<string, Map<string, Counted>>();

  /** @param isCertain each call is carried out once: otherwise a change may be counted twice until a pass */
  constructor(isCertain: boolean, fault: Fault) {
    this.#isCertain = isCertain;
    this.#fault = fault;
  }

  put(collection: string, is: Document | null, was: Document | null): void {
    if (is === null) return;
    if (collection === 'actions') this.#action(is, was);
    if (collection === 'feeds') this.#feed(is, was);
    if (collection === 'interactions') this.#interaction(is);
  }

  /** Who claims several reads them afterwards, and begins as of then. */
  read(collection: string, found: readonly Document[]): void {
    for (const one of found) {
      if (collection === 'actions') this.#seesAction(one, null);
      if (collection === 'feeds') this.#seesFeed(one, null);
    }
  }

  #seesAction(is: Document, before: unknown): void {
    const { worker, version } = (is['fanOut'] ?? {}) as Partial<Work>;
    if (worker === undefined || version === undefined || worker === before) return;
    this.#sees(String(is['_id']), worker, { version, audienceRev: Number(is['audienceRev'] ?? 0) });
  }

  #seesFeed(is: Document, before: unknown): void {
    const owner = (is['rebuild'] as Document | undefined)?.['owner'] as unknown;
    if (typeof owner !== 'string' || owner === before) return;
    const version = Number(is['rebuildVersion'] ?? 0);
    this.#sees(`feed ${String(is['_id'])}`, owner, { version, audienceRev: 0 });
  }

  #sees(what: string, token: string, seen: Seen): void {
    const all = this.#seen.get(what) ?? new Map<string, Seen[]>();
    this.#seen.set(what, all.set(token, [...(all.get(token) ?? []), seen]));
  }

  #action(is: Document, was: Document | null): void {
    const id = String(is['_id']);
    const [now, before] = [is, was].map((one) => (one?.['fanOut'] ?? {}) as Document);
    if (now === undefined || before === undefined) return;
    const { state, deliveredVersion, changedVersion } = now as Work;
    this.#seesAction(is, before['worker']);
    if (deliveredVersion !== undefined && (changedVersion ?? 0) > deliveredVersion)
      this.#fault(
        'what changes during work is work again',
        `${id} is called delivered as of ${String(deliveredVersion)}, and has changed as of ${String(changedVersion)}`,
      );
    if (before['state'] === 'IN_PROGRESS' && state !== 'IN_PROGRESS' && is['isDeleted'] !== true)
      this.#passEnds(id, now as Work, before as Work);
    if (is['isDeleted'] === true || is['isHidden'] === true) this.#uncounted.add(id);
    if (this.#isCertain && !this.#uncounted.has(id)) this.#counts(id, is);
  }

  #passEnds(id: string, now: Work, before: Work): void {
    const all = this.#seen.get(id);
    if (now.state === 'DONE') {
      const isSeen = [...(all?.values() ?? [])].flat().some(({ version }) => version === now.version);
      if (!isSeen)
        this.#fault(
          'what changes during work is work again',
          `${id} is done as of ${String(now.version)}, which nobody has claimed`,
        );
      return;
    }
    for (const [kind, at] of Object.entries(before.nextLifts ?? {})) {
      const left = now.lifts?.[kind];
      if (left === undefined || left.getTime() > at.getTime())
        this.#fault('what changes during work is work again', `what has lifted ${id} by ${kind} is not left`);
    }
    const seen = all?.get(before.worker ?? '')?.at(-1);
    const last = Math.max(-1, ...(before.former ?? []).map(({ rev }) => rev));
    const left = Math.max(-1, now.formerCutRev ?? -1, ...(now.former ?? []).map(({ rev }) => rev));
    if (seen !== undefined && last >= seen.audienceRev && left < last)
      this.#fault(
        'what changes during work is work again',
        `whom ${id} was addressed to before ${String(last)} is not left`,
      );
  }

  #feed(is: Document, was: Document | null): void {
    const what = `feed ${String(is['_id'])}`;
    const before = (was?.['rebuild'] as Document | undefined)?.['owner'] as unknown;
    this.#seesFeed(is, before);
    if (typeof before !== 'string' || is['rebuild'] !== undefined) return;
    const version = Number(is['rebuildVersion'] ?? 0);
    const seen =
      this.#seen
        .get(what)
        ?.get(before)
        ?.map((one) => one.version) ?? [];
    if (!seen.includes(version))
      this.#fault(
        'what changes during work is work again',
        `${what} is rebuilt as of ${seen.join()}, and was due as of ${String(version)}`,
      );
  }

  #interaction(is: Document): void {
    const actionId = String(is['actionId']);
    const all = this.#interactions.get(actionId) ?? new Map<string, Counted>();
    all.set(String(is['_id']), {
      kind: String(is['kind']),
      isVisible: is['state'] === undefined,
      isOpen: is['settling'] !== undefined,
    });
    this.#interactions.set(actionId, all);
  }

  #counts(id: string, { engagement }: Document): void {
    const all = [...(this.#interactions.get(id)?.values() ?? [])];
    for (const [kind, counter] of Object.entries(COUNTERS)) {
      const own = all.filter((one) => one.kind === kind);
      const recorded = own.filter(({ isVisible }) => isVisible).length;
      const open = own.filter(({ isOpen }) => isOpen).length;
      const count = Number((engagement as Document)[counter]);
      if (Math.abs(count - recorded) > open)
        this.#fault(
          'counts differ by what is on its way',
          `${counter} of ${id} are ${String(count)}: ${String(recorded)} are recorded, ${String(open)} on their way`,
        );
    }
  }
}

/** Of a fan-out, as it is stored. */
interface Work {
  readonly state: string;
  readonly version: number;
  readonly worker?: string;
  readonly deliveredVersion?: number;
  readonly changedVersion?: number;
  readonly lifts?: Readonly<Record<string, Date>>;
  readonly nextLifts?: Readonly<Record<string, Date>>;
  readonly former?: readonly { readonly rev: number }[];
  readonly formerCutRev?: number;
}

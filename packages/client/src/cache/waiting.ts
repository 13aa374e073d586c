import type { FeedMutations } from '../mutation-types.ts';
import type { Offline } from '../offline/open.ts';
import type { WaitingWrite, Write } from '../offline/outbox.ts';
import { WAITING, type WriteName } from '../offline/waiting.ts';
import type { OneReader } from '../one-reader.ts';
import type { Deeds, OtherLists } from './lists.ts';

/** A write with the promise of its answer. */
export type CacheWrite = Pick<WaitingWrite, 'id' | 'name' | 'variables' | 'done'>;
export type Sent = Pick<Write, 'id' | 'name' | 'variables'>;
type Variables = Write['variables'];

/** Which deed a write is; undefined: none, it changes nothing that the cache shows before an event does. */
export function deedOf({ name, variables }: Pick<Write, 'name' | 'variables'>): keyof Deeds | undefined {
  if (name === 'bookmark' || name === 'unbookmark') return name;
  const { kind, id, own } = (variables['input'] ?? {}) as {
    readonly kind?: string;
    readonly id?: string;
    readonly own?: { readonly kind: string };
  };
  if (name === 'addInteraction') return kind === 'LIKE' ? 'like' : kind === 'COMMENT' ? 'comment' : undefined;
  if (name !== 'removeInteraction') return undefined;
  return own?.kind === 'LIKE' ? 'unlike' : id === undefined ? undefined : 'removeComment';
}

/** Names the action: what is done to it is sent one after the other. */
function concernedBy({ variables }: Sent, actionOf: Performing['actionOf']): string {
  const input = (variables['input'] ?? variables) as {
    readonly actionId?: string;
    readonly id?: string;
    readonly own?: { readonly actionId: string };
  };
  const { id = '', actionId = input.own?.actionId ?? actionOf(id) ?? id } = input;
  return actionId;
}

/** How each deed is written. */
const WRITES: { readonly [Name in keyof Deeds]: (...given: Parameters<Deeds[Name]>) => Omit<Sent, 'id'> } = {
  like: (actionId) => ({ name: 'addInteraction', variables: { input: { actionId, kind: 'LIKE' } } }),
  unlike: (actionId) => ({
    name: 'removeInteraction',
    variables: { input: { own: { actionId, kind: 'LIKE' } } },
  }),
  bookmark: (actionId) => ({ name: 'bookmark', variables: { actionId } }),
  unbookmark: (actionId) => ({ name: 'unbookmark', variables: { actionId } }),
  comment: (actionId, text) => ({
    name: 'addInteraction',
    variables: { input: { actionId, kind: 'COMMENT', text } },
  }),
  removeComment: (id) => ({ name: 'removeInteraction', variables: { input: { id } } }),
};

/** What a cache does with what a reader does. */
interface Performing {
  /** Sends it now. Gives what the server answers, and rejects with a FeedClientError. */
  readonly send: (write: Sent) => Promise<unknown>;
  /** Shows it until it is answered, then what the answer says. Rejects with what `done` does. */
  readonly show: (write: CacheWrite) => Promise<void>;
  /** The action that a comment is on, if the cache has it. */
  readonly actionOf: (commentId: string) => string | undefined;
}

interface Uses {
  readonly offline: Offline | undefined;
  readonly reader: Pick<OneReader, 'signal' | 'language' | 'inTurn'>;
  /** Queries of the lists. */
  readonly documents: Readonly<Record<CachedList, string>>;
  readonly mutations: FeedMutations;
}

/** Lists that are kept for as long as there is no connection, and what waits for one. */
export class Waiting {
  readonly #with: Uses;
  /** Of each list that has changed: what keeps it. */
  readonly #kept = new Map<string, () => void>();
  /** What is shown that no answer has confirmed. */
  #open = 0;
  #count = 0;

  constructor(uses: Uses) {
    this.#with = uses;
  }

  /** Also shows what an earlier page has left. */
  perform({ send, show, actionOf }: Performing): {
    readonly deeds: Deeds;
    readonly mutations: FeedMutations;
  } {
    const { offline, reader, mutations } = this.#with;
    const sendAny = (write: Sent): Promise<unknown> =>
      deedOf(write) === undefined
        ? // The table says of each what it takes.
          (mutations[write.name] as (of: Variables) => Promise<unknown>)(write.variables)
        : reader.inTurn(concernedBy(write, actionOf), () => send(write));
    const later = offline?.outbox(sendAny, reader.signal);
    const write = (name: WriteName, variables: Variables): CacheWrite => {
      if (later !== undefined) return later(name, variables);
      const now = { id: String((this.#count += 1)), name, variables };
      return { ...now, done: sendAny(now) };
    };
    const shown = async (one: CacheWrite): Promise<void> => {
      this.#open += 1;
      try {
        await show(one);
      } finally {
        this.#open -= 1;
        // No event has to say that it is so now.
        if (this.#open === 0) for (const keep of this.#kept.values()) keep();
      }
    };
    for (const one of offline?.writes ?? [])
      // The host is notified by `onGivenUp`.
      if (deedOf(one) !== undefined) void shown(one).catch(() => undefined);
    const deeds = Object.entries(WRITES).map(([deed, writeOf]) => [
      deed,
      (id: string, text = '') => {
        const { name, variables } = writeOf(id, text);
        return shown(write(name, variables));
      },
    ]);
    return { deeds: Object.fromEntries(deeds) as Deeds, mutations: this.#mutations(later) };
  }

  /** Interactions and bookmarks wait as deeds alone: what these answer is what a cache needs. */
  #mutations(later: ReturnType<Offline['outbox']> | undefined): FeedMutations {
    const { mutations } = this.#with;
    if (later === undefined) return mutations;
    const names = WAITING.filter((name) => !/Interaction$|ookmark$/.test(name));
    const waiting = names.map((name) => [name, (variables: Variables) => later(name, variables).done]);
    return { ...mutations, ...(Object.fromEntries(waiting) as object) };
  }

  /**
   * @param answer of its query; undefined: it is not loaded
   * @returns call it when the list has changed, with the cursor from which its events go on
   */
  keeping(
    name: CachedList,
    variables: object,
    answer: () => object | null | undefined,
  ): (cursor?: string) => void {
    const { offline, reader, documents } = this.#with;
    const key = JSON.stringify([name, variables]);
    let cursor: string | undefined;
    const changed = offline?.keeping(() => {
      // What is not confirmed may yet be taken back.
      const data = this.#open > 0 ? null : (answer() ?? null);
      if (data === null) return undefined;
      const page = (data as Readonly<Record<string, { readonly liveCursor?: string } | undefined>>)[name];
      const liveCursor = page?.liveCursor === undefined ? '' : (cursor ?? page.liveCursor);
      const now = liveCursor === '' ? data : { ...data, [name]: { ...page, liveCursor } };
      const kept = { liveCursor, data: now };
      return { key, fields: documents[name], page: kept, language: reader.language };
    });
    return (next) => {
      cursor = next ?? cursor;
      if (changed === undefined) return;
      this.#kept.set(key, changed);
      changed();
    };
  }

  /** Lists of earlier pages. What was read with another query is not shown. */
  get lists(): readonly KeptAnswer[] {
    const { offline, documents } = this.#with;
    const selections = new Set(Object.values(documents));
    return (offline?.lists ?? []).flatMap(({ key, fields, page }) => {
      if (!selections.has(fields)) return [];
      const [name, variables] = JSON.parse(key) as readonly [CachedList, object];
      const { data } = page as { readonly data?: object };
      return documents[name] === fields && data !== undefined ? [{ name, variables, data }] : [];
    });
  }
}

export type CachedList = 'feed' | 'notifications' | keyof OtherLists;

interface KeptAnswer {
  readonly name: CachedList;
  readonly variables: object;
  readonly data: object;
}

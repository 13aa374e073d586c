import type { ActionContent } from '@fanfare/react';
import { useMemo, useState, useSyncExternalStore } from 'react';
import { CONTENT_FIELDS } from '@fanfare/client';
import { useClient } from './use-client.ts';

type Client = ReturnType<typeof useClient>;

/** What an action carries beside its sentence, and who did something with it last. */
export interface Said {
  readonly content: ActionContent;
  readonly last: {
    readonly kind: string;
    readonly at: string;
    readonly actor: { readonly memberId: string; readonly name: string };
  } | null;
}

interface Of {
  readonly id: string;
  /** Changes with what is shown of it. */
  readonly engagement?: { readonly lastInteraction: string | null };
  readonly descriptor: { readonly summary: string };
}

interface Nodes {
  readonly nodes: readonly ({
    readonly id?: string;
    readonly content?: ActionContent;
    readonly interactions?: {
      readonly edges: readonly { readonly node: NonNullable<Said['last']> }[];
    };
  } | null)[];
}

const SAID = `query Said($ids: [ID!]!) { nodes(ids: $ids) { ... on Action { id ${CONTENT_FIELDS}
  interactions(first: 1) { edges { node { kind at actor { memberId name } } } } } } }`;
const AT_ONCE = 100;

/** Reads several at once: those that are asked for in the same moment. */
class SaidStore {
  readonly #client: Client;
  readonly #known = new Map<string, { readonly key: string; readonly said: Said | null }>();
  readonly #wanted = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #version = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  readonly getVersion = (): number => this.#version;

  /** What was read last, while it is read again; undefined before it was read, null where it could not be. */
  get(action: Of): Said | null | undefined {
    const { id } = action;
    const known = this.#known.get(id);
    const key = `${action.engagement?.lastInteraction ?? ''} ${action.descriptor.summary}`;
    if (known?.key !== key && this.#wanted.get(id) !== key) {
      if (this.#wanted.size === 0) setTimeout(() => void this.#read());
      this.#wanted.set(id, key);
    }
    return known?.said;
  }

  async #read(): Promise<void> {
    const all = [...this.#wanted];
    const parts = Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, at) =>
      all.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
    );
    const read = async (some: typeof all): Promise<void> => {
      const found = await this.#ask(some.map(([id]) => id));
      for (const [at, [id, key]] of some.entries()) this.#known.set(id, { key, said: found[at] ?? null });
    };
    await Promise.all(parts.map(read));
    for (const [id, key] of all) if (this.#wanted.get(id) === key) this.#wanted.delete(id);
    this.#version += 1;
    for (const listener of this.#listeners) listener();
    if (this.#wanted.size > 0) await this.#read();
  }

  /** Without it an action is shown by its sentence alone, which says the most. */
  async #ask(ids: readonly string[]): Promise<readonly (Said | null)[]> {
    try {
      const { nodes } = await this.#client.request<Nodes>(SAID, { ids });
      return nodes.map((node) =>
        node?.content === undefined
          ? null
          : { content: node.content, last: node.interactions?.edges[0]?.node ?? null },
      );
    } catch {
      return ids.map(() => null);
    }
  }
}

const stores = new WeakMap<Client, SaidStore>();

function useStore(): SaidStore {
  const client = useClient();
  const store = stores.get(client) ?? new SaidStore(client);
  stores.set(client, store);
  return store;
}

/** What an action says beside its sentence; undefined until it is known, null of none. */
export function useSaid(action: Of | null): Said | null | undefined {
  const store = useStore();
  const get = (): Said | null | undefined => (action === null ? null : store.get(action));
  return useSyncExternalStore(store.subscribe, get, get);
}

/**
 * Those of which it is known what they say: an item that is shown has its height, and what is below it does not move when its
 * text comes later.
 */
export function useKnownItems<Item extends { readonly action: Of }>(items: readonly Item[]): readonly Item[] {
  const store = useStore();
  const version = useSyncExternalStore(store.subscribe, store.getVersion, store.getVersion);
  return useMemo(() => {
    const known = items.filter(({ action }) => store.get(action) !== undefined);
    return known.length === items.length ? items : known;
    // The version says that more of them may be known.
  }, [store, items, version]);
}

/** The last of these lists of which it is known what all of it says; undefined before there is one. */
export function useKnownEdges<Edge extends { readonly node: Of }>(
  edges: readonly Edge[] | undefined,
): readonly Edge[] | undefined {
  const store = useStore();
  useSyncExternalStore(store.subscribe, store.getVersion, store.getVersion);
  const [shown, setShown] = useState<readonly Edge[]>();
  // Each is asked for, not only the first that is not known.
  const isAwaited = (edges ?? []).filter(({ node }) => store.get(node) === undefined).length > 0;
  if (!isAwaited && shown !== edges) setShown(edges);
  return isAwaited ? shown : edges;
}

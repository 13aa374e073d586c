import { useQuery } from '@fanfare/react';
import { useEffect, useMemo, useState } from 'react';
import { hrefTo } from '../route.ts';
import { useSession } from '../session.ts';
import { useClient } from './use-client.ts';

type Client = ReturnType<typeof useClient>;

/** Somebody or something that has an id. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  /** "person", or the type of a thing. */
  readonly kind: string;
  readonly href: string;
}

const PERSON = 'person';
const ACTION = `actor { memberId name } refs { refId type label }`;
const SEEN = `query Seen { feed(first: 100) { edges { node { action { ${ACTION} } } } }
  viewer { following(first: 100) { edges { node { refId label type } } } } }`;
/** Administrators may read all actions: they know more people than those of the own feed. */
const SEEN_BY_ADMIN = `query SeenByAdmin { actions(first: 100, includeHidden: true) { edges { node { ${ACTION} } } } }`;
const KNOWN = `query Known($id: String!) {
  member(memberId: $id) { memberId name } ref(refId: $id) { refId label type } }`;
const WAIT_MS = 150;

interface Acted {
  readonly actor: { readonly memberId: string; readonly name: string };
  readonly refs: readonly Thing[];
}
interface Thing {
  readonly refId: string;
  readonly type: string;
  readonly label: string;
}
interface Seen {
  readonly feed: { readonly edges: readonly { readonly node: { readonly action: Acted } }[] };
  readonly viewer: {
    readonly following: { readonly edges: readonly { readonly node: Thing }[] };
  };
}

/**
 * People and things whose name or id has a text in it. The one place that knows where they come from: until the server can be
 * asked for all of them by a part of a name, they are those of the latest hundred actions, those that one follows, and
 * whatever has exactly this id.
 * @param kind only these; default: all
 */
export function useDirectory(
  text: string,
  kind?: (entry: Entry) => boolean,
): { readonly entries: readonly Entry[]; readonly error: Error | null; readonly isLoading: boolean } {
  const client = useClient();
  const isAdmin = useSession()?.roles.includes('admin') === true;
  const seen = useQuery<Seen>(SEEN);
  const more = useQuery<{ readonly actions?: { readonly edges: readonly { readonly node: Acted }[] } }>(
    isAdmin ? SEEN_BY_ADMIN : '{ __typename }',
  );
  const known = useMemo(
    () =>
      entriesOf(
        seen.data,
        more.data?.actions?.edges.map(({ node }) => node),
      ),
    [seen.data, more.data],
  );
  const [exact, setExact] = useState<readonly Entry[]>([]);
  const id = text.trim();
  useEffect(() => {
    setExact([]);
    if (id === '') return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      // What cannot be read is not there for this token.
      void lookUp(client, id, abort.signal).then(setExact, () => undefined);
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, id]);
  const wanted = id.toLowerCase();
  const ids = new Set(exact.map((one) => `${one.kind} ${one.id}`));
  const found = known.filter(
    (one) =>
      !ids.has(`${one.kind} ${one.id}`) &&
      (one.name.toLowerCase().includes(wanted) || one.id.toLowerCase().includes(wanted)),
  );
  return {
    entries: [...exact, ...found].filter((one) => kind?.(one) ?? true),
    error: seen.error ?? more.error,
    isLoading: seen.isLoading || more.isLoading,
  };
}

export const isPerson = ({ kind }: Entry): boolean => kind === PERSON;

function entriesOf(seen: Seen | undefined, acted: readonly Acted[] = []): Entry[] {
  const entries = new Map<string, Entry>();
  const follows = seen?.viewer.following.edges.map(({ node }) => node) ?? [];
  const actions = [...(seen?.feed.edges.map(({ node }) => node.action) ?? []), ...acted];
  for (const { actor } of actions) entries.set(`m ${actor.memberId}`, personOf(actor));
  for (const ref of [...follows, ...actions.flatMap(({ refs }) => refs)])
    // People are followed by their ids, too.
    if (!entries.has(`m ${ref.refId}`)) entries.set(`r ${ref.refId}`, thingOf(ref));
  return [...entries.values()].sort((a, b) => a.name.localeCompare(b.name));
}

function personOf({ memberId, name }: Acted['actor']): Entry {
  return { id: memberId, name, kind: PERSON, href: hrefTo('slice', memberId) };
}
function thingOf({ refId, label, type }: Thing): Entry {
  return { id: refId, name: label, kind: type, href: hrefTo('slice', refId) };
}

async function lookUp(client: Client, id: string, signal: AbortSignal): Promise<Entry[]> {
  const { member, ref } = await client.request<{
    readonly member: Acted['actor'] | null;
    readonly ref: Thing | null;
  }>(KNOWN, { id }, signal);
  if (member !== null) return [personOf(member)];
  return ref === null ? [] : [thingOf(ref)];
}

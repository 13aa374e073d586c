import { useQuery } from '@fanfare/react';
import { useEffect, useMemo, useState } from 'react';
import { hrefTo } from '../route.ts';
import { useClient } from './use-client.ts';

/** Somebody or something that has an id. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  /** "person", or the type of a thing. */
  readonly kind: string;
  readonly href: string;
  /** Of a person. */
  readonly imageUrl?: string | null | undefined;
}

export const PERSON = 'person';
const PERSON_FIELDS = 'memberId name imageUrl';
const THING = 'refId type label';
const SEEN = `query Seen { feed(first: 100) { edges { node { action { actor { ${PERSON_FIELDS} } refs { ${THING} } } } } }
  viewer { following(first: 100) { edges { node { ${THING} } } } } }`;
const KNOWN = `query Known($id: String!) {
  member(memberId: $id) { ${PERSON_FIELDS} } ref(refId: $id) { ${THING} } }`;
const NAMED = `query Named($text: String!) {
  members(search: $text, first: 50) { edges { node { ${PERSON_FIELDS} } } }
  refs(search: $text, first: 50) { edges { node { ${THING} } } } }`;
const WAIT_MS = 150;

type Client = ReturnType<typeof useClient>;

interface Person {
  readonly memberId: string;
  readonly name: string;
  readonly imageUrl: string | null;
}
interface Thing {
  readonly refId: string;
  readonly type: string;
  readonly label: string;
}
interface List<T> {
  readonly edges: readonly { readonly node: T }[];
}
interface Seen {
  readonly feed: List<{ readonly action: { readonly actor: Person; readonly refs: readonly Thing[] } }>;
  readonly viewer: { readonly following: List<Thing> };
}

/**
 * People and things by the words of their names, by a part of the names of those that are in one's feed or followed, and by
 * the whole id. The one place that knows where they come from.
 * @param kind only these; default: all
 */
export function useDirectory(
  text: string,
  kind?: (entry: Entry) => boolean,
): { readonly entries: readonly Entry[]; readonly error: Error | null; readonly isLoading: boolean } {
  const client = useClient();
  const seen = useQuery<Seen>(SEEN);
  const known = useMemo(() => entriesOf(seen.data), [seen.data]);
  const [found, setFound] = useState<readonly Entry[] | null>(null);
  const wanted = text.trim();
  useEffect(() => {
    setFound(null);
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        void lookUp(client, wanted, abort.signal).then((some) => abort.signal.aborted || setFound(some));
      },
      wanted === '' ? 0 : WAIT_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, wanted]);
  const part = wanted.toLowerCase();
  const matching = known.filter(({ id, name }) => `${name}\n${id}`.toLowerCase().includes(part));
  const unique = new Map(
    [...(found ?? []), ...matching].reverse().map((one) => [`${one.kind} ${one.id}`, one]),
  );
  const entries = [...unique.values()].reverse().filter((one) => kind?.(one) ?? true);
  return {
    // What was looked for begins with what fits best.
    entries: wanted === '' ? entries.sort(byName) : entries,
    error: seen.error,
    isLoading: seen.isLoading || (found === null && unique.size === 0),
  };
}

export const isPerson = ({ kind }: Entry): boolean => kind === PERSON;

function entriesOf(seen: Seen | undefined): Entry[] {
  const actions = seen?.feed.edges.map(({ node }) => node.action) ?? [];
  const things = [
    ...(seen?.viewer.following.edges.map(({ node }) => node) ?? []),
    ...actions.flatMap(({ refs }) => refs),
  ];
  const people = actions.map(({ actor }) => personOf(actor));
  // People are followed by their ids, too.
  const ids = new Set(people.map(({ id }) => id));
  const entries = [...people, ...things.filter(({ refId }) => !ids.has(refId)).map(thingOf)];
  return entries.sort(byName);
}

const byName = (a: Entry, b: Entry): number => a.name.localeCompare(b.name);

function personOf({ memberId, name, imageUrl }: Person): Entry {
  return { id: memberId, name, imageUrl, kind: PERSON, href: hrefTo('slice', memberId) };
}
function thingOf({ refId, label, type }: Thing): Entry {
  return { id: refId, name: label, kind: type, href: hrefTo('slice', refId) };
}

/** What cannot be read is not there for this token: not everybody may search. */
async function lookUp(client: Client, text: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const byId =
    text === ''
      ? []
      : client
          .request<{ readonly member: Person | null; readonly ref: Thing | null }>(
            KNOWN,
            { id: text },
            signal,
          )
          .then(
            ({ member, ref }) => (member !== null ? [personOf(member)] : ref === null ? [] : [thingOf(ref)]),
            () => [],
          );
  const byName = client
    .request<{ readonly members: List<Person>; readonly refs: List<Thing> }>(NAMED, { text }, signal)
    .then(
      ({ members, refs }) => [
        ...members.edges.map(({ node }) => personOf(node)),
        ...refs.edges.map(({ node }) => thingOf(node)),
      ],
      () => [],
    );
  return [...(await byId), ...(await byName)];
}

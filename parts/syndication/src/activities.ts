import {
  activityField,
  activityNamed,
  ANY_ACTIVITY,
  type Activity,
} from '../../../src/descriptors/activity.ts';
import { descriptorOfType } from '../../../src/descriptors/registry.ts';
import { type Entry, textOf } from './entries.ts';
import { paragraphsOf, sentenceOf } from './formats.ts';

const VOCABULARY = 'https://www.w3.org/ns/activitystreams';
const PUBLIC = `${VOCABULARY}#Public`;

/** Types of objects by what a ref is called; a ref of another type is an Object. */
const OBJECTS: ReadonlyMap<string, string> = new Map([
  ['post', 'Note'],
  ...[
    ...['Application', 'Article', 'Audio', 'Document', 'Event', 'Group', 'Image', 'Note', 'Organization'],
    ...['Page', 'Person', 'Place', 'Profile', 'Service', 'Video'],
  ].map((type) => [type.toLowerCase(), type] as const),
]);

/** What an ActivityStreams document says of its words. */
export function contextOf(locale: string) {
  return { '@context': [VOCABULARY, { '@language': locale }] };
}

/** An action in the words of ActivityStreams 2.0. @param url address of the server */
export function activityOf(entry: Entry, url: string) {
  const id = `${url}/actions/${encodeURIComponent(entry.id)}`;
  const type = typeOf(entry);
  const content = paragraphsOf(entry);
  const said = content === '' ? {} : { content };
  const [about, target] = entry.refs;
  const { actor } = entry;
  return {
    ...{ id, type },
    actor: {
      ...{ id: refUrl(url, actor.memberId), type: 'Person', name: actor.name },
      ...pageOf(actor),
    },
    object: {
      ...(about === undefined ? { id: `${id}#object`, type: 'Note' } : objectOf(about, url)),
      ...(type === 'Create' ? said : {}),
    },
    ...(target === undefined ? {} : { target: objectOf(target, url) }),
    ...(type === 'Create' ? {} : said),
    summary: sentenceOf(entry),
    published: entry.conducted,
    ...(entry.editedAt === null ? {} : { updated: entry.editedAt }),
    to: [PUBLIC],
  };
}

export function refUrl(url: string, refId: string): string {
  return `${url}/refs/${encodeURIComponent(refId)}`;
}

function typeOf(entry: Entry): Activity {
  const declared = descriptorOfType(entry.descriptor.type)?.activity ?? ANY_ACTIVITY;
  const field = activityField(declared);
  return activityNamed(field === null ? declared : textOf(entry, field)) ?? ANY_ACTIVITY;
}

function objectOf(ref: Entry['refs'][number], url: string) {
  return {
    id: refUrl(url, ref.refId),
    type: OBJECTS.get(ref.type.toLowerCase()) ?? 'Object',
    name: ref.label,
    ...pageOf(ref),
  };
}

function pageOf({ url }: { readonly url: string | null }) {
  return url === null ? {} : { url };
}

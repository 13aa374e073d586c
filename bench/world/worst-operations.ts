import { SHOWN_NODE } from './queries.ts';

const aliased = (count: number, call: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `a${String(n)}: ${call(n)}`).join(' ');

/** What a reader can ask for that costs most, by name: the field, repeated under so many aliases. */
export const WORST: Readonly<Record<string, (count: number) => string>> = {
  'pages of 100': (count) =>
    `{ ${aliased(count, () => `feed(first: 100) { edges { node { ${SHOWN_NODE} } } }`)} }`,
  TOP: (count) =>
    `{ ${aliased(count, (n) => `feed(order: TOP, first: ${String(1 + n)}) { edges { node { id } } }`)} }`,
  RECENT: (count) =>
    `{ ${aliased(count, (n) => `feed(order: RECENT, first: ${String(1 + n)}) { edges { node { id } } }`)} }`,
  'totals of different filters': (count) =>
    `{ ${aliased(count, (n) => `feed(first: 1, filter: { actorIds: ["actor-${String(n)}"] }) { total { count isExact } }`)} }`,
  'searches for what is not there': (count) =>
    `{ ${aliased(count, (n) => `feed(first: 1, filter: { text: "nothing${String(n)}" }) { edges { node { id } } }`)} }`,
  groups: (count) =>
    `{ ${aliased(count, (n) => `feedGroups(first: ${String(1 + (n % 50))}) { edges { node { id count { count } actors { memberId } items(first: 5) { id } } } }`)} }`,
  notifications: (count) =>
    `{ ${aliased(count, (n) => `notifications(first: ${String(1 + n)}) { edges { node { id summary count { count } actorCount { count } } } unseen { count } }`)} }`,
  bookmarks: (count) =>
    `{ viewer { ${aliased(count, (n) => `bookmarks(first: ${String(1 + n)}) { edges { node { id } } }`)} } }`,
  following: (count) =>
    `{ viewer { ${aliased(count, (n) => `following(first: ${String(1 + n)}) { edges { node { id label } } }`)} } }`,
};

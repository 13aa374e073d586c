import type { Role } from '../../src/domain/viewer.ts';
import type { TestApp } from './app.ts';
import { ITEM_FIELDS, type ShownItem } from './live-clients.ts';

const SERVICE = { sub: 'importer', roles: ['service'] } as const;

/** Asks the API over HTTP. Throws where any part of the answer is an error. */
export async function ask<T>(
  app: Pick<TestApp, 'query'>,
  document: string,
  variables: Readonly<Record<string, unknown>> = {},
  as: { readonly sub: string; readonly roles?: readonly Role[] } = SERVICE,
): Promise<T> {
  const { data, errors } = await app.query<T>(document, variables, as);
  if (data === null || errors.length > 0) throw new Error(`Refused: ${JSON.stringify(errors)}`);
  return data;
}

/** Publishes for others: by "actor", a Custom action, unless the input says otherwise. Gives the global id. */
export async function publish(
  app: Pick<TestApp, 'query'>,
  input: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { publishAction } = await ask<{ publishAction: { action: { id: string } } }>(
    app,
    'mutation ($input: PublishActionInput!) { publishAction(input: $input) { action { id } } }',
    {
      input: {
        actorId: 'actor',
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'post-1' } },
        ...input,
      },
    },
  );
  return publishAction.action.id;
}

/** Describes members and refs, and lets followers follow. */
export async function upsert(
  app: Pick<TestApp, 'query'>,
  what: {
    readonly members?: readonly object[];
    readonly refs?: readonly object[];
    readonly pairs?: readonly object[];
  },
): Promise<void> {
  await ask(
    app,
    `mutation ($members: [MemberInput!]!, $refs: [RefInput!]!, $pairs: [FollowInput!]!) {
      upsertMembers(members: $members) upsertRefs(refs: $refs) followMany(pairs: $pairs)
    }`,
    { members: [], refs: [], pairs: [], ...what },
  );
}

/** The top of a reader's feed. */
export async function feedOf(
  app: Pick<TestApp, 'query'>,
  sub: string,
  variables: { readonly first?: number; readonly filter?: object } = {},
): Promise<ShownItem[]> {
  const { feed } = await ask<{ feed: { edges: { node: ShownItem }[] } }>(
    app,
    `query ($first: Int, $filter: FeedFilter) {
      feed(first: $first, filter: $filter) { edges { node { ...ItemFields } } }
    } ${ITEM_FIELDS}`,
    { ...variables },
    { sub },
  );
  return feed.edges.map(({ node }) => node);
}

/** The id that is stored, of a global id of an action. */
export function rawId(globalId: string): string {
  return Buffer.from(globalId, 'base64').toString().slice('Action:'.length);
}

/** A time that does not come while a test runs. */
export function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString();
}

import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';

/** A small world, at rest, that bad requests must leave as it is. */
export interface RefusalWorld extends AsyncDisposable {
  readonly app: TestApp;
  /** Global ids of what there is. */
  readonly ids: {
    readonly action: string;
    readonly member: string;
    readonly item: string;
    readonly comment: string;
  };
  /** Cursors that are good, each in one place only. */
  readonly cursors: {
    readonly feedOfAnn: string;
    readonly feedOfBob: string;
    readonly sliceOfSite: string;
    readonly sliceOfActor: string;
    readonly following: string;
    readonly actions: string;
  };
}

const SERVICE = { sub: 'importer', roles: ['service'] } as const;

interface CursorsData {
  readonly feed: { readonly edges: readonly { readonly cursor: string; readonly node: { id: string } }[] };
  readonly site: { readonly pageInfo: { readonly endCursor: string } };
  readonly actor: { readonly pageInfo: { readonly endCursor: string } };
  readonly viewer: { readonly following: { readonly pageInfo: { readonly endCursor: string } } };
}

/**
 * Ann and Bob follow the actor, who posted three times about a site. Ann and the actor are in a team and a
 * department, Bob and Lone in none. Nothing works in the background, unless a worker is asked for.
 */
export async function openRefusalWorld(options: TestAppOptions = {}): Promise<RefusalWorld> {
  const app = await startTestApp({ worker: false, ...options });
  await data(
    app,
    `mutation {
      upsertMembers(members: [
        { memberId: "ann", name: "Ann", teamId: "t", departmentId: "d" }
        { memberId: "actor", name: "Actor", teamId: "t", departmentId: "d" }
        { memberId: "bob", name: "Bob" }
        { memberId: "lone", name: "Lone" }
      ])
      upsertRefs(refs: [{ id: "site", type: "site", label: "Site" }, { id: "other", type: "site", label: "Other" }])
      followMany(pairs: [
        { followerId: "ann", refId: "actor" }, { followerId: "ann", refId: "other" }
        { followerId: "bob", refId: "actor" }
      ])
    }`,
    SERVICE,
  );
  const posted = await data<{ publishActions: { action: { id: string } }[] }>(
    app,
    'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
    SERVICE,
    {
      inputs: [1, 2, 3].map((n) => ({
        actorId: 'actor',
        conducted: `2026-01-0${String(n)}T00:00:00Z`,
        refs: [{ id: 'site', type: 'site', label: 'Site' }],
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: `post-${String(n)}` } },
      })),
    },
  );
  const commented = await data<{ addInteraction: { interaction: { id: string } } }>(
    app,
    `mutation ($id: ID!) {
      addInteraction(input: { actionId: $id, kind: COMMENT, actorId: "actor", text: "Well" }) { interaction { id } }
    }`,
    SERVICE,
    { id: posted.publishActions[0]?.action.id ?? '' },
  );
  {
    await using worker = await startTestApp({ api: false, database: app.database });
    await worker.idle();
  }
  const cursors = `{
    feed(first: 1) { edges { cursor node { id } } }
    site: slice(refId: "site", first: 1) { pageInfo { endCursor } }
    actor: slice(refId: "actor", first: 1) { pageInfo { endCursor } }
    viewer { following(first: 1) { pageInfo { endCursor } } }
  }`;
  const ann = await data<CursorsData>(app, cursors, { sub: 'ann' });
  const bob = await data<CursorsData>(app, cursors, { sub: 'bob' });
  const { actions } = await data<{ actions: { pageInfo: { endCursor: string } } }>(
    app,
    '{ actions(first: 1) { pageInfo { endCursor } } }',
    { sub: 'root', roles: ['admin'] },
  );
  return {
    app,
    ids: {
      action: posted.publishActions[0]?.action.id ?? '',
      member: Buffer.from('Member:actor').toString('base64'),
      item: ann.feed.edges[0]?.node.id ?? '',
      comment: commented.addInteraction.interaction.id,
    },
    cursors: {
      feedOfAnn: ann.feed.edges[0]?.cursor ?? '',
      feedOfBob: bob.feed.edges[0]?.cursor ?? '',
      sliceOfSite: ann.site.pageInfo.endCursor,
      sliceOfActor: ann.actor.pageInfo.endCursor,
      following: ann.viewer.following.pageInfo.endCursor,
      actions: actions.pageInfo.endCursor,
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

async function data<T = unknown>(
  app: TestApp,
  document: string,
  as: NonNullable<Parameters<TestApp['query']>[2]>,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const answer = await app.query<T>(document, variables, as);
  if (answer.data === null || answer.errors.length > 0)
    throw new Error(`The world could not be made: ${JSON.stringify(answer.errors)}\n${app.log.join('')}`);
  return answer.data;
}

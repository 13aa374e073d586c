import { execute, parse, specifiedRules, validate, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/domain/action.ts';
import { BOOKMARKED } from '../../../parts/bookmarks/src/use-cases.ts';
import { CACHED_REF_NAME, MEMBER, REF } from '../../../src/feed/loads/names.ts';
import { FOLLOW } from '../../../src/feed/loads/own-follows.ts';
import { OWN_INTERACTIONS } from '../../../src/features/interactions/read-interactions.ts';
import { toConnection } from '../../../src/graphql/connection.ts';
import { Answer } from '../../../src/graphql/rendering/answer.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import { CompiledExecution } from '../../../src/http/execution/compiled-execution.ts';
import { PartCache } from '../../../src/http/execution/shared-parts/part-cache.ts';
import {
  SharedExecution,
  type AnsweringContext,
} from '../../../src/http/execution/shared-parts/shared-execution.ts';
import { DEFAULT_LIMITS } from '../../../src/http/limits/limits.ts';
import type { FeedPage, PageArgs } from '../../../src/core/shapes.ts';
import { fc } from '../../support/fast-check.ts';
import { repeats } from '../../support/seed.ts';

const schema = await buildSchema();
// The page comes with the context: which items are in a feed is not shown here.
const feed = schema.getQueryType()?.getFields()['feed'];
if (feed === undefined) throw new Error('There is no such field');
feed.resolve = (_root, args: PageArgs, { page }: { readonly page: FeedPage }) => toConnection(page, args);
const PEOPLE = ['ann', 'bob'];
const THINGS = ['site', 'mary'];
const HEX = 16;

/** Actions and names that change, and a session as a request opens one, which reads them as they are then. */
class World {
  readonly actions: Action[];
  readonly names = new Map([...PEOPLE, ...THINGS].map((id) => [id, `Name of ${id}`]));
  readonly stamps = new Map<string, number>();
  stamp = 0;
  /** How often a name was asked for. */
  lookUps = 0;
  #changes = 0;

  constructor() {
    this.actions = PEOPLE.map((actorId, n) => actionOf(n, actorId));
  }

  edit(n: number): void {
    const change = ++this.#changes;
    const action = this.actions[n];
    if (action === undefined) throw new Error('There is no such action');
    const descriptor = {
      ...action.descriptor,
      ratingText: `Text "${String(change)}" \u2028 ${'é'.repeat(3)}`,
    };
    this.actions[n] = { ...action, descriptor, rev: change, version: action.version + 1 };
  }

  rename(id: string): void {
    this.stamp = ++this.#changes;
    this.stamps.set(id, this.stamp);
    this.names.set(id, `Name ${String(this.stamp)} of ${id}`);
  }

  context(viewer: string, locale: 'en' | 'de' = 'en'): AnsweringContext {
    const stamps = new Map(this.stamps);
    const { stamp } = this;
    const nameOf = (id: string): string | null => {
      this.lookUps += 1;
      return this.names.get(id) ?? null;
    };
    const isPerson = (id: string): boolean => PEOPLE.includes(id);
    const values = new Map<unknown, (id: string) => unknown>([
      [
        MEMBER,
        (id) =>
          isPerson(id)
            ? { userId: id, name: nameOf(id), teamId: null, departmentId: 'd', supervisorId: null }
            : null,
      ],
      [CACHED_REF_NAME, (id) => (isPerson(id) ? null : { refId: id, type: 'thing', label: nameOf(id) })],
      [REF, (id) => ({ refId: id, type: 'thing', label: nameOf(id), followerCount: this.#changes })],
      [FOLLOW, (refId) => ({ refId, active: refId.length > viewer.length, spans: [] })],
      [OWN_INTERACTIONS, () => ({ kinds: new Set(viewer === 'ann' ? ['LIKE'] : []), reactions: [] })],
      [BOOKMARKED, (id) => (viewer === 'bob' ? id : null)],
    ]);
    const session = {
      identity: { userId: viewer, roles: new Set(['user']), expiresAt: null },
      directoryStamp: stamp,
      directory: () => Promise.resolve({ stamp, stampOf: (id: string) => stamps.get(id) ?? 0 }),
      load: (what: unknown, id: string) => Promise.resolve(values.get(what)?.(id) ?? null),
      loadMany: (what: unknown, ids: readonly string[]) =>
        Promise.resolve(ids.map((id) => values.get(what)?.(id) ?? null)),
    };
    const edges = this.actions.map((action, n) => ({
      cursor: `cursor-${String(n)}`,
      node: {
        ...{ userId: viewer, actionId: action.id, action },
        relevancy: new Date(n),
        reasons: ['FOLLOW'],
      },
    }));
    const page = { edges, hasNextPage: false, endCursor: null };
    return {
      ...{ locale, identity: () => session.identity, session: () => session },
      page,
      answer: new Answer(DEFAULT_LIMITS),
    } as unknown as AnsweringContext;
  }
}

function actionOf(n: number, actorId: string): Action {
  const at = new Date(Date.UTC(2026, 0, n + 1));
  return {
    ...{
      id: n.toString(HEX).padStart(24, '0'),
      rev: -n - 1,
      actorId,
      conducted: at,
      recorded: at,
      latest: at,
    },
    ...{ groupKey: null, idempotencyKey: null, scope: 'PUBLIC', audience: [], mentions: [], recipients: [] },
    ...{ refs: [{ id: 'mary', type: 'applicant', label: 'Mary' }], refIds: ['mary', actorId] },
    descriptor: {
      ...{ type: 'ApplicationRating', raterId: actorId, raterName: 'Rater', applicantId: 'mary' },
      ...{
        applicantName: 'Mary',
        positionId: 'site',
        positionName: 'Site',
        ratingScore: 4.5,
        tags: ['a', '"b"'],
      },
    },
    ...{ version: 1, editedAt: null, audienceRev: 0, concerned: null, formerlyConcerned: [] },
    ...{ givenRefs: null, expiresAt: null, isHidden: false },
    engagement: {
      ...{ comments: 1, likes: 2, reshares: 0, lastInteraction: null },
      reactions: [{ reaction: '👍', count: 2 }],
    },
    ...{ isDeleted: false, pullRefIds: [], reshares: [], isBumped: false, commentsVersion: 0 },
    fanOut: { state: 'DONE', version: 1, attempts: 1, lane: 'LIVE', delivered: 1, error: null },
  };
}

const FRAGMENTS = `fragment OnAction on Action { conducted again: id ...OnNode }
fragment OnNode on Node { id }
fragment OnRating on ApplicationRatingDescriptor { raterName ratingText score: ratingScore }`;
const VARIABLES = '($locale: String = "de", $first: Int)';
/** Left out a variable has its default, null is the language of the reader. */
const LOCALES = [{}, { locale: null }, { locale: 'de' }, { locale: 'en' }];
/** What may be asked of an action: of everybody the same, of the viewer, and both in one. */
const SELECTIONS = [
  ...[
    'id',
    '__typename',
    'conducted',
    'a: scope',
    'isHidden',
    'expiresAt',
    '...OnAction',
    '... on Node { n: id }',
  ],
  ...['actor { memberId name }', 'by: actor { id name departmentId __typename }'],
  ...['refs { refId type label }', 'followed: refs { label isFollowed }', 'counted: refs { followerCount }'],
  'descriptor { type summary tags }',
  ...['parts: descriptor { summaryParts { text } }', 'fanOut { state }'],
  ...['engagement { comments likes reactions { reaction count } lastInteraction }'],
  ...['viewer { hasLiked isBookmarked canDelete }'],
];

const SAID = ['', 'said: descriptor { summary(locale: $locale) ...OnRating }'];

const documents = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...SELECTIONS), { minLength: 1, maxLength: 7 }),
    fc.constantFrom(...SAID),
  )
  .map(
    ([fields, said]) =>
      `query Q${VARIABLES} { feed(first: $first) { edges { cursor node { id action { ${fields.join(' ')} ${said} } relevancy } } } }\n${FRAGMENTS}`,
  );

const RULES = specifiedRules.filter(({ name }) => !name.startsWith('NoUnused'));

function newExecution(maxBytes = 1_000_000): CompiledExecution {
  return new CompiledExecution({ runsBefore: () => 0 }, new SharedExecution(schema, new PartCache(maxBytes)));
}

type Run = ExecutionArgs & { readonly contextValue: AnsweringContext };

function argsOf(text: string, contextValue: AnsweringContext, variableValues = {}): Run {
  return { schema, document: parsed(text), contextValue, variableValues };
}

const known = new Map<string, ReturnType<typeof parse>>();

/** The same document for the same text, as the server has it. */
function parsed(text: string): ReturnType<typeof parse> {
  const document = known.get(text) ?? parse(text);
  known.set(text, document);
  return document;
}

/** What a client is sent. */
async function sent(execution: CompiledExecution, args: Run): Promise<string> {
  const result = await execution.executeShared(args, () => {
    throw new Error('It was interpreted');
  });
  const written = await args.contextValue.answer.write(result);
  return 'stringify' in written ? written.stringify(written) : JSON.stringify(written);
}

const steps = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant('edit' as const), n: fc.nat({ max: 1 }) }),
    fc.record({ what: fc.constant('rename' as const), id: fc.constantFrom(...PEOPLE, ...THINGS) }),
    fc.record({
      ...{
        what: fc.constant('read' as const),
        document: fc.nat({ max: 2 }),
        viewer: fc.constantFrom(...PEOPLE),
      },
      locale: fc.constantFrom('en' as const, 'de' as const),
      asked: fc.shuffledSubarray(LOCALES, { minLength: 1, maxLength: 2 }),
    }),
  ),
  { minLength: 3, maxLength: 20 },
);

test('sends exactly the bytes of the interpreter, whatever was changed and rendered before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(documents, { minLength: 3, maxLength: 3 }), steps, async (texts, history) => {
      for (const text of texts) fc.pre(validate(schema, parsed(text), RULES).length === 0);
      const world = new World();
      const execution = newExecution();
      for (const step of history) {
        if (step.what === 'edit') world.edit(step.n);
        else if (step.what === 'rename') world.rename(step.id);
        else {
          const text = texts[step.document] ?? '';
          for (const asked of step.asked) {
            const values = { ...asked, first: 2 };
            const make = () => argsOf(text, world.context(step.viewer, step.locale), values);
            const { data, errors }: ExecutionResult = await execute(make());
            expect(errors).toBeUndefined();
            expect(await sent(execution, make())).toBe(JSON.stringify({ data }));
          }
        }
      }
    }),
    { numRuns: repeats(50) },
  );
});

const SHOWN = 'query { feed { edges { node { action { id actor { name } descriptor { summary } } } } } }';

test('requests no name while nothing has changed, and otherwise only changed ones', async () => {
  const world = new World();
  const execution = newExecution();
  const lookUps = async (): Promise<number> => {
    const before = world.lookUps;
    await sent(execution, argsOf(SHOWN, world.context('ann')));
    return world.lookUps - before;
  };
  expect(await lookUps()).toBeGreaterThan(0);
  expect(await lookUps()).toBe(0);
  world.edit(0);
  expect(await lookUps()).toBeGreaterThan(0);
  world.rename('bob');
  expect(await lookUps()).toBeGreaterThan(0);
  expect(await lookUps()).toBe(0);
});

test('renders each time without a cache, and stays within the limit of the cache', async () => {
  for (const maxBytes of [0, 1_000]) {
    const world = new World();
    const execution = newExecution(maxBytes);
    for (let run = 0; run < 3; run++) {
      const before = world.lookUps;
      await sent(execution, argsOf(SHOWN, world.context('ann')));
      expect(world.lookUps).toBeGreaterThan(before);
    }
  }
});

test('an omitted variable differs from null', async () => {
  const text = `query ($l: String = "de") { feed { edges { node { action { descriptor { summary(locale: $l) } } } } } }`;
  const world = new World();
  const execution = newExecution();
  const shown = new Set<string>();
  for (const values of [{}, { l: null }, {}, { l: null }]) {
    const make = () => argsOf(text, world.context('ann'), values);
    const { data }: ExecutionResult = await execute(make());
    const answer = await sent(execution, make());
    expect(answer).toBe(JSON.stringify({ data }));
    shown.add(answer);
  }
  expect(shown.size).toBe(2);
});

test('leaves a part with errors to the interpreter', async () => {
  const world = new World();
  const execution = newExecution();
  const text =
    'query ($l: String) { feed { edges { node { action { descriptor { summary(locale: $l) } } } } } }';
  const args = argsOf(text, world.context('ann'), { l: 'x'.repeat(10_000) });
  const expected = await execute(args);
  expect(expected.errors?.length).toBeGreaterThan(0);
  expect(JSON.stringify(await execution.executeShared(args, execute))).toBe(JSON.stringify(expected));
});

test('executes a document completely if it uses our key or also selects the schema', async () => {
  const world = new World();
  for (const text of [
    'query { feed { edges { node { action { __s00: id } } } } }',
    'query { feed { edges { node { action { id } } } } __schema { queryType { name } } }',
  ]) {
    const args = argsOf(text, world.context('ann'));
    const { data } = await execute(args);
    expect(await sent(newExecution(), args)).toBe(JSON.stringify({ data }));
  }
});

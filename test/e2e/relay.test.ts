import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { SCHEMA_FILE } from '../../schema/print.ts';

/** A frontend of Relay's kind: modules by name, each with the documents in it. */
const FRONTEND = {
  FeedPage: [
    `query FeedPageQuery($first: Int!, $after: String, $filter: FeedFilter) {
      viewer { memberId ...FeedPage_viewer }
      ...FeedPage_feed @arguments(first: $first, after: $after, filter: $filter)
    }`,
    `fragment FeedPage_feed on Query
    @refetchable(queryName: "FeedPagePaginationQuery")
    @argumentDefinitions(first: { type: "Int", defaultValue: 25 }, after: { type: "String" }, filter: { type: "FeedFilter" }) {
      feed(first: $first, after: $after, filter: $filter) @connection(key: "FeedPage_feed") {
        state
        unread { count isExact }
        edges { node { id ...FeedItem_item } }
      }
    }`,
    `fragment FeedPage_viewer on Viewer
    @refetchable(queryName: "FeedPageFollowingQuery")
    @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" }) {
      following(first: $count, after: $cursor) @connection(key: "FeedPage_following") {
        edges { node { refId label } }
      }
    }`,
  ],
  FeedItem: [
    `fragment FeedItem_item on NewsfeedItem { relevancy isUnread reasons action { ...ActionCard_action } }`,
  ],
  ActionCard: [
    `fragment ActionCard_action on Action @refetchable(queryName: "ActionCardRefetchQuery") {
      conducted
      actor { id name }
      refs { refId label isFollowed }
      descriptor { __typename summary ... on ApplicationRatingDescriptor { ratingScore } ... on CustomDescriptor { data } }
    }`,
  ],
  FeedWatcher: [
    `subscription FeedWatcherSubscription($after: String, $connections: [ID!]!) {
      feedEvents(after: $after) {
        __typename
        cursor
        ... on FeedItemAdded { item @prependNode(connections: $connections, edgeTypeName: "FeedEdge") { id ...FeedItem_item } }
        ... on FeedItemUpdated { item { id ...FeedItem_item } }
        ... on FeedItemRemoved { itemId @deleteEdge(connections: $connections) }
        ... on UnreadCountChanged { unread { count } }
        ... on FeedResync { reason }
      }
    }`,
  ],
  Composer: [
    `mutation ComposerMutation($input: PublishActionInput!) {
      publishAction(input: $input) { isReplay action { id ...ActionCard_action } }
    }`,
    `mutation ComposerFollowMutation($refId: String!) { follow(refId: $refId, copyLimit: 10) { refId isFollowed } }`,
    `mutation ComposerReadMutation($upTo: DateTime!) { markFeedRead(upTo: $upTo) { unreadCount { count } } }`,
  ],
} as const;

interface Compiled {
  readonly exitCode: number;
  readonly output: string;
  readonly artifacts: readonly string[];
}

/** Compiles a frontend against the committed schema, in a folder of its own. */
async function compile(frontend: Readonly<Record<string, readonly string[]>>): Promise<Compiled> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-relay-'));
  try {
    await mkdir(join(folder, 'src'));
    await cp(SCHEMA_FILE, join(folder, 'schema.graphql'));
    await writeFile(join(folder, 'package.json'), '{}');
    await writeFile(
      join(folder, 'relay.config.json'),
      JSON.stringify({
        src: './src',
        schema: './schema.graphql',
        language: 'typescript',
        artifactDirectory: './artifacts',
        customScalarTypes: { DateTime: 'string', JSON: 'unknown' },
      }),
    );
    await mkdir(join(folder, 'artifacts'));
    for (const [name, documents] of Object.entries(frontend))
      await writeFile(
        join(folder, 'src', `${name}.ts`),
        documents.map((document) => `graphql\`${document}\`;\n`).join(''),
      );
    const { exitCode, output } = await run(folder);
    return { exitCode, output, artifacts: (await readdir(join(folder, 'artifacts'))).sort() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(folder: string): Promise<{ exitCode: number; output: string }> {
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('relay-compiler/package.json')),
    'cli.js',
  );
  return new Promise((resolve) => {
    const args = [compiler, '--noWatchman', 'relay.config.json'];
    execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr });
    });
  });
}

test('Relay compiles connections, refetchable fragments, mutations and the subscription', async () => {
  const { exitCode, output, artifacts } = await compile(FRONTEND);
  expect(output).not.toMatch(/error|warning/i);
  expect(exitCode).toBe(0);
  expect(artifacts).toEqual([
    'ActionCardRefetchQuery.graphql.ts',
    'ActionCard_action.graphql.ts',
    'ComposerFollowMutation.graphql.ts',
    'ComposerMutation.graphql.ts',
    'ComposerReadMutation.graphql.ts',
    'FeedItem_item.graphql.ts',
    'FeedPageFollowingQuery.graphql.ts',
    'FeedPagePaginationQuery.graphql.ts',
    'FeedPageQuery.graphql.ts',
    'FeedPage_feed.graphql.ts',
    'FeedPage_viewer.graphql.ts',
    'FeedWatcherSubscription.graphql.ts',
  ]);
});

test('the compiler reports errors', async () => {
  const { exitCode, output } = await compile({ Broken: ['query BrokenQuery { feed { nothing } }'] });
  expect(exitCode).not.toBe(0);
  expect(output).toContain('nothing');
  expect(await readFile(SCHEMA_FILE, 'utf8')).not.toContain('nothing: ');
});

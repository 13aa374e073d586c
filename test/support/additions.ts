import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Something that is often added to the project, as somebody would do it. */
export interface Addition {
  /** Its line in docs/where-to-change.md. */
  readonly what: string;
  /** New files, by their path. */
  readonly files: Readonly<Record<string, string>>;
  /** What is put into a file that is there: after the first piece of text, which is in it once, comes the second. */
  readonly insertions: readonly (readonly [path: string, after: string, text: string])[];
  /** Files that a command writes then, by the command. */
  readonly written: Readonly<Record<string, string>>;
}

/** One document for each reader and action. */
const FEED_MODEL: Addition = {
  what: 'a feed model',
  files: {
    'packages/feed-models/src/plain/model.ts': `
import type { FeedModel } from '../../../../src/feed/feed-store.ts';
import { feedCollection } from '../../../../src/storage/documents/declaration.ts';
import { HOLDERS_INDEX, PAGE_INDEX } from '../../../../src/feed/models/stored-entries.ts';
import { plainFeedStore } from './store.ts';

export const plainModel: FeedModel = {
  name: 'plain',
  collections: [
    feedCollection('plainEntries', {
      holds: 'an entry of a feed',
      reader: 'userId',
      indexes: [PAGE_INDEX, HOLDERS_INDEX],
      serves: 'page and deliveries of a reader',
    }),
  ],
  open: ({ db }) => plainFeedStore(db.collection('plainEntries'), db.collection('plainEntries')),
};
`,
    'packages/feed-models/src/plain/store.ts': `
import { ObjectId, type Collection } from 'mongodb';
import type { UserId } from '../../../../src/domain/action.ts';
import type { FeedEntry } from '../../../../src/domain/newsfeed-item.ts';
import { isDuplicateKey } from '../../../../src/storage/database/errors.ts';
import type { FeedEntryDocument, StoredEntryDocument } from '../../../../src/storage/documents/feed-documents.ts';
import type { FeedStore } from '../../../../src/feed/feed-store.ts';
import { BY_FIELDS, isBehind, storedEntries } from '../../../../src/feed/models/stored-entries.ts';

/** One write for each entry, and nothing more. */
export function plainFeedStore(
  collection: Collection<StoredEntryDocument>,
  /** The same, by what its documents have in common with others. */
  entries: Collection<StoredEntryDocument>,
): FeedStore {
  const stored = storedEntries(entries, BY_FIELDS);

  /** What was stored of it before. */
  async function put(userId: UserId, { actionId, relevancy, reasons }: FeedEntry): Promise<FeedEntryDocument | null> {
    const _id = \`\${actionId}_\${userId}\`;
    try {
      await collection.insertOne({ _id, userId, actionId: new ObjectId(actionId), relevancy, reasons: [...reasons] });
      return null;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const raised = { $max: { relevancy }, $addToSet: { reasons: { $each: [...reasons] } } };
    return collection.findOneAndUpdate({ _id }, raised);
  }

  return {
    model: 'plain',
    async deliver({ actionId, readers }) {
      const added: UserId[] = [];
      const raised: UserId[] = [];
      for (const reader of readers) {
        const before = await put(reader.userId, { actionId, ...reader });
        if (before === null) added.push(reader.userId);
        else if (isBehind(before, reader)) raised.push(reader.userId);
      }
      return { added, raised };
    },
    async fill(userId, entries) {
      const added = [];
      for (const entry of entries) if ((await put(userId, entry)) === null) added.push(entry.actionId);
      return added;
    },
    page: async (query) => ({ entries: await stored.page(query), floor: null }),
    find: (userId, actionIds) => stored.find(userId, actionIds),
    held: (actionId, userIds) => stored.holders(actionId, userIds),
    holders: (actionId, query) => stored.someHolders(actionId, query),
    remove: (userIds, actionIds) => stored.remove(userIds, actionIds),
    trim: (userId, from) => stored.trim(userId, from),
    drop: (userId) => stored.drop(userId),
  };
}
`,
  },
  insertions: [
    [
      'packages/feed-models/src/index.ts',
      "import { cappedModel } from './capped/store.ts';\n",
      "import { plainModel } from './plain/model.ts';\n",
    ],
    ['packages/feed-models/src/index.ts', '  cappedModel,\n', '  plainModel,\n'],
  ],
  written: {},
};

const DESCRIPTOR: Addition = {
  what: 'a type that ships',
  files: {
    'src/descriptors/packs/social/praised.ts': `
import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const praised = defineDescriptor('Praised', {
  description: 'Somebody praised somebody.',
  fields: {
    userId: field.id({ description: 'Who was praised.' }),
    reason: field.text({ description: 'What for.', max: 200 }),
  },
  group: ['userId'],
  summary: { en: '{actor} praised {userId}', de: '{actor} lobt {userId}' },
});
`,
  },
  insertions: [
    [
      'src/descriptors/packs/packs.ts',
      "import { posted } from './social/posted.ts';\n",
      "import { praised } from './social/praised.ts';\n",
    ],
    ['src/descriptors/packs/packs.ts', 'social: [posted, followed, liked, commented', ', praised'],
  ],
  written: { 'npm run schema': 'schema/schema.graphql' },
};

const JOB: Addition = {
  what: 'a background job',
  files: {
    'src/features/census/jobs/census.ts': `
import type { Job, JobSetup } from '../../../jobs/job.ts';

/** Counts the names that are still to be carried to their copies. */
export function census({ core, config, logger }: JobSetup): Job {
  return {
    name: 'census',
    every: config.fanOut.pollMs,
    async run() {
      logger.info({ names: await core.renames.countDue() }, 'Census taken');
      return false;
    },
  };
}
`,
  },
  insertions: [
    [
      'src/app/jobs.ts',
      "import { erasure } from '../features/erasure/jobs/erasure-worker.ts';\n",
      "import { census } from '../features/census/jobs/census.ts';\n",
    ],
    ['src/app/jobs.ts', 'JOBS: readonly DeclareJob[] = [', 'census, '],
  ],
  written: {},
};

const SETTING: Addition = {
  what: 'a setting',
  files: {},
  insertions: [
    [
      'src/config/settings/feeds.ts',
      'export const FEED_SETTINGS = {\n',
      "  CENSUS_EVERY: setting('1m', duration('1s', '1d'), 'How often names to be carried are counted.'),\n",
    ],
    ['src/config/config.ts', '  readonly feeds: {\n', '    readonly censusEveryMs: number;\n'],
    ['src/config/read-config.ts', '    feeds: {\n', '      censusEveryMs: values.CENSUS_EVERY,\n'],
  ],
  written: { 'npm run settings': 'docs/configuration.md' },
};

export const ADDITIONS = [FEED_MODEL, DESCRIPTOR, JOB, SETTING] as const;

/** Puts it into the project in a folder, but for what commands write. */
export async function add({ files, insertions }: Addition, project: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text.trimStart());
  }
  for (const [path, after, text] of insertions) {
    const pieces = (await readFile(join(project, path), 'utf8')).split(after);
    if (pieces.length !== 2)
      throw new Error(`${path} has ${JSON.stringify(after)} ${String(pieces.length - 1)} times, not once`);
    await writeFile(join(project, path), pieces.join(after + text));
  }
}

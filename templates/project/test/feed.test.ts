// Tests the types of fanfare.config.ts: change it with them. Its databases are local ones of its own.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFanfare } from '@fanfare/server';
import config from '../fanfare.config.ts';

test('who follows a project reads which of its tasks are finished', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'feed-test-'));
  const settings = { DATA_DIR, LOG_LEVEL: 'warn', MONGODB_URI: '', REDIS_URL: '' };
  const fanfare = createFanfare(config, { settings });
  try {
    await fanfare.start();
    await fanfare.upsertMembers([{ memberId: 'ann', name: 'Ann' }]);
    await fanfare.follow([{ followerId: 'eve', refId: 'apollo' }]);
    await fanfare.publish({
      actorId: 'ann',
      descriptor: {
        taskFinished: { projectId: 'apollo', projectName: 'Apollo', title: 'the landing', hours: 2.5 },
      },
    });
    await fanfare.delivered();
    const { items } = await fanfare.read('eve');
    assert.deepEqual(
      items.map(({ summary }) => summary),
      ['Ann finished the landing in Apollo'],
    );
    const [descriptor] = items.map(({ action }) => action.descriptor);
    assert.equal(descriptor?.type === 'TaskFinished' ? descriptor.hours : null, 2.5);
  } finally {
    await fanfare.close();
    await rm(DATA_DIR, { recursive: true });
  }
});

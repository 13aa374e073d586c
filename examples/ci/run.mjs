// Publishes actions as a build server would, and reads them in every way: node run.mjs. Each step prints what it found, and
// fails if that is wrong.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFanfare } from '@fanfare/server';
import config from './fanfare.config.mjs';

const web = { repoId: 'web', repoName: 'Web' };
// Empty databases each time: otherwise actions of an earlier run would be found too.
const DATA_DIR = await mkdtemp(join(tmpdir(), 'fanfare-ci-'));
const fanfare = createFanfare(config, { settings: { LOG_LEVEL: 'warn', DATA_DIR } });

async function ask(document, variables, as) {
  const { data, errors } = await fanfare.query(document, variables, as);
  assert.deepEqual(errors, []);
  return data;
}

/** Waits until the condition is true, for background work. */
async function eventually(check) {
  for (let tries = 0; ; tries++) {
    try {
      return await check();
    } catch (error) {
      if (tries === 300) throw error;
      await delay(100);
    }
  }
}

function says(what, found, expected) {
  assert.deepEqual(found, expected);
  console.log(`${what}: ${JSON.stringify(found)}`);
}

try {
  await fanfare.start();
  await fanfare.upsertMembers([
    { memberId: 'ann', name: 'Ann Lee' },
    { memberId: 'bob', name: 'Bob' },
    { memberId: 'eve', name: 'Eve' },
  ]);
  await fanfare.follow([{ followerId: 'eve', refId: 'web' }]);

  const broke = (authorId, authorName) => ({ buildFailed: { ...web, authorId, authorName, branch: 'main' } });
  for (const descriptor of [
    broke('ann', 'Ann Lee'),
    broke('bob', 'Bob'),
    { deployed: { ...web, stage: 'PRODUCTION', version: '1.2', finishedAt: new Date(0) } },
    { reviewRequested: { ...web, reviewerId: 'ann', reviewerName: 'Ann Lee', title: 'Faster builds' } },
  ])
    await fanfare.publish({ actorId: 'bob', descriptor });
  await fanfare.delivered();

  const { items } = await fanfare.read('eve');
  says(
    'feed',
    items.map(({ summary }) => summary),
    [
      'Bob asked Ann Lee to review Faster builds',
      'Bob deployed Web 1.2',
      'Bob broke main of Web',
      'Ann Lee broke main of Web',
    ],
  );

  const groups = '{ feedGroups { edges { node { count { count } summary } } } }';
  const shown = async (locale) => {
    const { feedGroups } = await ask(groups, {}, { memberId: 'eve', locale });
    return feedGroups.edges.map(({ node }) => `${node.count.count}: ${node.summary}`);
  };
  says('groups', await shown('en'), [
    '1: Bob asked Ann Lee to review Faster builds',
    '1: Bob deployed Web 1.2',
    '2: Bob and Ann Lee broke main of Web',
  ]);
  says('auf Deutsch', await shown('de-AT'), [
    '1: Bob hat Ann Lee um eine Durchsicht von Faster builds gebeten',
    '1: Bob hat Web 1.2 ausgeliefert',
    '2: Bob und Ann Lee haben main von Web zerbrochen',
  ]);

  const slice = async (refId) => {
    const query =
      'query ($refId: String!) { slice(refId: $refId) { edges { node { descriptor { type } } } } }';
    const page = await ask(query, { refId }, { memberId: 'eve' });
    return page.slice.edges.map(({ node }) => node.descriptor.type);
  };
  says('slice of a person', await slice('ann'), ['ReviewRequested', 'BuildFailed']);

  await ask('mutation { renameRef(refId: "web", label: "Website") { label } }');
  says('after a rename', (await fanfare.read('eve')).items[1].summary, 'Bob deployed Website 1.2');

  await ask('mutation { eraseMember(memberId: "ann") }', {}, { memberId: 'admin', roles: ['admin'] });
  await eventually(async () => {
    const left = await fanfare.read('eve');
    assert(!JSON.stringify(left).includes('Ann Lee'));
    says('after an erasure', left.items.at(-1).summary, 'Former member broke main of Website');
  });
} finally {
  await fanfare.close();
  await rm(DATA_DIR, { recursive: true });
}

// Publishes an action and reads it in the feed of somebody who follows the project.
import { createFanfare } from '@fanfare/server';
import config from './fanfare.config.mjs';

const fanfare = createFanfare(config, { settings: { LOG_LEVEL: 'warn' } });
try {
  console.log('Starting. The first time a local database is fetched.');
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
  for (const locale of ['en', 'de']) {
    const { items } = await fanfare.read('eve', { locale });
    for (const { summary } of items) console.log(`Eve reads: ${summary}`);
  }
} finally {
  await fanfare.close();
}

// Publishes an action and reads it in the feed of a member who follows the project.
import { createFanfare } from '@fanfare/server';
import config from './fanfare.config.ts';

const fanfare = createFanfare(config, { settings: { LOG_LEVEL: 'warn' } });
try {
  console.log('Starting. The first time a local database is fetched.');
  await fanfare.start();
  await fanfare.upsertMembers([{ memberId: 'ann', name: 'Ann' }]);
  await fanfare.follow([{ followerId: 'eve', refId: 'apollo' }]);
  await fanfare.publish({
    actorId: 'ann',
    refs: [
      { id: 'apollo', type: 'project', label: 'Apollo' },
      { id: 'landing', type: 'task', label: 'The landing' },
    ],
    // Every configuration has this type, whatever else it declares.
    descriptor: { custom: { verb: 'finished', objectType: 'task', objectId: 'landing' } },
  });
  await fanfare.delivered();
  const { items } = await fanfare.read('eve');
  for (const { summary } of items) console.log(`Eve reads: ${summary}`);
} finally {
  await fanfare.close();
}

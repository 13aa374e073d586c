import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openParts } from '../../support/parts.ts';

test('explains an item with nine queries, and writes nothing', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services } = parts;
  await services.follow(parts.session('ann'), 'actor', 0);
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await services.addInteraction(parts.session('bob'), { actionId: action.id, kind: 'COMMENT' });
  await parts.fanOut();
  const commands = await commandsOf(parts.database, () =>
    services.explainFeedItem(parts.session('ann'), action.id, null),
  );
  expect(commands.map(({ name, collection }) => `${name} ${collection}`).sort()).toEqual([
    'aggregate interactions',
    'find actions',
    'find feeds',
    'find follows',
    'find interactions',
    'find members',
    'find newsfeedItems',
    'find rankings',
    'find scores',
  ]);
});
